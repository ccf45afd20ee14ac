//! Laying a profile and `--set` over a tree.
//!
//! Sections merge key by key, everything else is replaced. A section whose `kind` changes is replaced as a whole, since
//! the other keys belong to the old kind.

use super::problem::{Problem, Sources, Span, list};
use super::tree::{Key, Node, Value, parse};
use crate::suggest::did_you_mean;

/// Lays `over` over `base`.
pub fn merge(base: &mut Node, over: &Node) {
    let other_kind = matches!((base.get("kind"), over.get("kind")), (Some(old), Some(new)) if old.value != new.value);
    match (&mut base.value, &over.value) {
        (Value::Map(entries), Value::Map(new)) if !other_kind => {
            for (key, value) in new {
                match entries.iter_mut().find(|(k, _)| k.text == key.text) {
                    Some((_, old)) => merge(old, value),
                    None => entries.push((key.clone(), value.clone())),
                }
            }
        }
        _ => *base = over.clone(),
    }
}

/// Applies `a.b[0].c=value`. A list entry may also be named by its `id` or `name`: `methods[sicur].known=[landmarks]`.
pub fn set(root: &mut Node, assignment: &str, sources: &mut Sources) -> Result<(), Problem> {
    let source = sources.add("--set", assignment);
    let whole = Span { source, offset: 0, len: assignment.len() };
    let Some((path, value)) = assignment.split_once('=') else {
        return Err(Problem::new(format!("`--set {assignment}` has no `=`"))
            .at(whole)
            .label("expected `key=value`")
            .help("for example `--set ranks=[50,100]` or `--set methods[0].alpha=2`"));
    };
    // parse with the path blanked out, so that places in the value count from the start of the assignment
    let padded = " ".repeat(path.len() + 1) + value;
    let value = parse(&padded, source)?;
    let mut node = root;
    for step in steps(path, whole)? {
        node = descend(node, step)?;
    }
    *node = value;
    Ok(())
}

enum Step<'a> {
    Key(&'a str, Span),
    Entry(&'a str, Span),
}

fn steps(path: &str, whole: Span) -> Result<Vec<Step<'_>>, Problem> {
    let bad =
        |what: &str| Err(Problem::new(format!("`{path}` is not a path: {what}")).at(Span { len: path.len(), ..whole }));
    let mut steps = Vec::new();
    let mut offset = 0;
    for part in path.split('.') {
        let (key, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        if key.is_empty() {
            return bad("a name is missing");
        }
        steps.push(Step::Key(key.trim(), Span { offset, len: key.len(), ..whole }));
        let mut at = offset + key.len();
        while let Some(inner) = rest.strip_prefix('[') {
            let Some((entry, after)) = inner.split_once(']') else { return bad("a `]` is missing") };
            steps.push(Step::Entry(entry, Span { offset: at + 1, len: entry.len(), ..whole }));
            at += entry.len() + 2;
            rest = after;
        }
        if !rest.is_empty() {
            return bad("a `.` is missing after `]`");
        }
        offset += part.len() + 1;
    }
    Ok(steps)
}

fn descend<'a>(node: &'a mut Node, step: Step<'_>) -> Result<&'a mut Node, Problem> {
    match step {
        Step::Key(key, place) => {
            if node.value == Value::Null {
                node.value = Value::Map(Vec::new());
            }
            let kind = node.describe();
            let Value::Map(entries) = &mut node.value else {
                return Err(Problem::new(format!("`{key}` can't be set: what it would be part of is {kind}"))
                    .at(place)
                    .label("not a section"));
            };
            let position = entries.iter().position(|(k, _)| k.text == key).unwrap_or_else(|| {
                entries.push((Key { text: key.to_owned(), place }, Node { value: Value::Null, place }));
                entries.len() - 1
            });
            Ok(&mut entries[position].1)
        }
        Step::Entry(entry, place) => {
            let kind = node.describe();
            let Value::List(items) = &mut node.value else {
                return Err(Problem::new(format!("`[{entry}]` needs a list, but this is {kind}")).at(place));
            };
            let names: Vec<&str> = items.iter().filter_map(name_of).collect();
            let position = match entry.parse::<usize>() {
                Ok(index) => Some(index).filter(|&index| index < items.len()),
                Err(_) => items.iter().position(|item| name_of(item) == Some(entry)),
            };
            if let Some(position) = position {
                return Ok(&mut items[position]);
            }
            let problem = Problem::new(format!("the list has no entry `{entry}`")).at(place);
            Err(match (did_you_mean(entry, names.iter().copied()), items.len()) {
                (Some(near), _) => problem.help(format!("did you mean `{near}`?")),
                (None, 0) => problem.help("the list is empty: set the whole list instead"),
                (None, n) if names.len() == n => {
                    problem.help(format!("entries: [0] to [{}], or by name: {}", n - 1, list(&names)))
                }
                (None, n) => problem.help(format!("entries: [0] to [{}]", n - 1)),
            })
        }
    }
}

fn name_of(item: &Node) -> Option<&str> {
    item.get("name").or_else(|| item.get("id")).and_then(Node::as_text).or_else(|| item.as_text())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Node {
        parse(text, 0).unwrap()
    }

    fn after_set(text: &str, assignment: &str) -> Result<Node, Problem> {
        let mut root = tree(text);
        set(&mut root, assignment, &mut Sources::default()).map(|()| root)
    }

    #[test]
    fn sections_merge_and_lists_are_replaced() {
        let mut base = tree("a: { b: 1, c: 2 }\nl: [1, 2, 3]");
        merge(&mut base, &tree("a: { c: 3 }\nl: [9]"));
        assert_eq!(base.get("a").unwrap().get("b").unwrap().value, Value::Integer(1));
        assert_eq!(base.get("a").unwrap().get("c").unwrap().value, Value::Integer(3));
        assert!(matches!(&base.get("l").unwrap().value, Value::List(items) if items.len() == 1));
    }

    #[test]
    fn a_section_of_another_kind_is_replaced() {
        let mut base = tree("o: { kind: wmd, gamma: 1 }");
        merge(&mut base, &tree("o: { kind: precomputed }"));
        assert!(base.get("o").unwrap().get("gamma").is_none());
    }

    #[test]
    fn set_reaches_into_lists_by_number_and_by_name() {
        let text = "methods: [ { id: nystrom }, { id: sicur, z: 2 } ]";
        for assignment in ["methods[1].z=3", "methods[sicur].z=3"] {
            let root = after_set(text, assignment).unwrap();
            let Value::List(items) = &root.get("methods").unwrap().value else { panic!("not a list") };
            assert_eq!(items[1].get("z").unwrap().value, Value::Integer(3));
        }
    }

    #[test]
    fn set_makes_the_sections_it_needs() {
        let root = after_set("name: x", "budget.calls=1_000").unwrap();
        assert_eq!(root.get("budget").unwrap().get("calls").unwrap().value, Value::Integer(1000));
    }

    #[test]
    fn a_step_to_nowhere_is_refused() {
        for (assignment, part) in [
            ("ranks", "no `=`"),
            ("l[7]=1", "no entry `7`"),
            ("l[0=1", "`]` is missing"),
            ("n.a=1", "can't be set"),
            (".a=1", "name is missing"),
        ] {
            let problem = after_set("l: [1]\nn: 3", assignment).unwrap_err();
            assert!(problem.to_string().contains(part), "{assignment}: {problem}");
        }
    }
}
