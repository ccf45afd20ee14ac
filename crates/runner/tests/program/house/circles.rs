//! Circles of imports inside a crate: a file may import from its own folder, and the folder from it; nothing else.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{FLOORS, repository, sources};

/// Segments of a module below the crate; none for `lib.rs`.
type Module = Vec<String>;

fn modules(folder: &str) -> BTreeMap<Module, String> {
    let root = repository().join(folder).join("src");
    let code = |text: &str| {
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
    };
    let found = sources(&root).into_iter().filter_map(|(path, text)| {
        let path = path.strip_prefix(&root).unwrap().with_extension("");
        let module: Module = path.iter().map(|segment| segment.to_str().unwrap().to_owned()).collect();
        let is_test = module.iter().any(|segment| segment == "tests") || module == ["main"];
        (!is_test).then(|| (if module == ["lib"] { Vec::new() } else { module }, code(&text)))
    });
    found.collect()
}

/// `a::{b, c::d}` as `a::b` and `a::c::d`.
fn expanded(path: &str) -> Vec<String> {
    let path = path.split(" as ").next().unwrap_or_default().trim();
    let Some(open) = path.find('{') else { return vec![path.to_owned()] };
    let (prefix, inside) = (&path[..open], &path[open + 1..]);
    let inside = &inside[..matching(inside).unwrap_or(inside.len())];
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in inside.char_indices().chain([(inside.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = inside[start..at].trim();
                found.extend(expanded(part).into_iter().filter(|p| !p.is_empty()).map(|p| format!("{prefix}{p}")));
                start = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// Position of the brace that closes the one opened before `text`.
fn matching(text: &str) -> Option<usize> {
    let mut depth = 1;
    text.char_indices().find_map(|(at, c)| {
        depth += match c {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        (depth == 0).then_some(at)
    })
}

/// Paths of a source: those of `pub use`, then those of `use` and in the code.
fn paths(code: &str) -> (Vec<String>, Vec<String>) {
    let (mut passed_on, mut used) = (Vec::new(), Vec::new());
    let mut rest = String::new();
    for statement in code.split_inclusive(';') {
        let line_start = |at: usize| statement[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let found = statement.match_indices("use ").map(|(at, _)| at).find(|&at| {
            let before = statement[line_start(at)..at].trim();
            statement.ends_with(';') && (before.is_empty() || before.starts_with("pub"))
        });
        match found {
            Some(at) => {
                rest.push_str(&statement[..line_start(at)]);
                let is_public = !statement[line_start(at)..at].trim().is_empty();
                let tree = statement[at + 4..statement.len() - 1].split_whitespace().collect::<Vec<_>>().join(" ");
                if is_public { &mut passed_on } else { &mut used }.extend(expanded(&tree));
            }
            None => rest.push_str(statement),
        }
    }
    // `pub(in …)` imports nothing
    let rest = rest.split("pub(in ").enumerate().map(|(n, part)| match part.split_once(')') {
        Some((_, after)) if n > 0 => after,
        _ => part,
    });
    for word in rest.collect::<String>().split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        if word.contains("::") {
            used.push(word.trim_matches(':').to_owned());
        }
    }
    (passed_on, used)
}

/// The module that a path names from `here`, and the name in it.
fn resolve(all: &BTreeMap<Module, String>, here: &Module, path: &str) -> Option<(Module, Option<String>)> {
    let mut segments = path.split("::").map(str::trim).filter(|segment| *segment != "self").peekable();
    let mut module = here.clone();
    match segments.peek().copied() {
        Some("crate") => {
            segments.next();
            module.clear();
        }
        Some("super") => {
            while segments.next_if_eq(&"super").is_some() {
                module.pop();
            }
        }
        Some(child) if all.contains_key(&[here.as_slice(), &[child.to_owned()]].concat()) => {}
        _ if path.starts_with("self::") => {}
        _ => return None,
    }
    while let Some(child) = segments.peek() {
        let below = [module.as_slice(), &[(*child).to_owned()]].concat();
        if !all.contains_key(&below) {
            break;
        }
        (module, _) = (below, segments.next());
    }
    Some((module, segments.next().map(str::to_owned)))
}

fn imports(all: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut passed_on: HashMap<(Module, String), (Module, Option<String>)> = HashMap::new();
    for (module, code) in all {
        for path in paths(code).0 {
            if let Some((from, Some(name))) = resolve(all, module, &path) {
                passed_on.insert((module.clone(), name.clone()), (from, Some(name)));
            }
        }
    }
    let origin = |mut at: (Module, Option<String>)| {
        for _ in 0..5 {
            let Some(next) = at.1.clone().and_then(|name| passed_on.get(&(at.0.clone(), name))) else { break };
            at = next.clone();
        }
        at.0
    };
    let edges = all.iter().map(|(module, code)| {
        let used = paths(code).1;
        // modules that are imported by name: `check::name` after `use super::check`
        let named: HashMap<String, Module> = used
            .iter()
            .filter_map(|path| match resolve(all, module, path)? {
                (target, None) => Some((target.last()?.clone(), target)),
                _ => None,
            })
            .collect();
        let through = |path: &String| {
            let (first, rest) = path.split_once("::")?;
            resolve(all, named.get(first)?, &format!("self::{rest}"))
        };
        let found = used.iter().flat_map(|path| [resolve(all, module, path), through(path)]).flatten().map(origin);
        (module.clone(), found.filter(|target| target != module).collect())
    });
    edges.collect()
}

/// Groups of modules that reach each other, as `a b c`.
fn circles(all: &BTreeMap<Module, String>) -> Vec<Vec<Module>> {
    let edges = imports(all);
    let reach = |from: &Module| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(at) = open.pop() {
            open.extend(edges[&at].iter().filter(|next| seen.insert((*next).clone())).cloned());
        }
        seen
    };
    let reached: BTreeMap<_, _> = all.keys().map(|module| (module, reach(module))).collect();
    let group = |module: &Module| -> Vec<Module> {
        all.keys()
            .filter(|other| reached[module].contains(*other) && reached[*other].contains(module))
            .cloned()
            .collect()
    };
    let groups: BTreeSet<Vec<Module>> = all.keys().map(group).filter(|group| group.len() > 1).collect();
    groups.into_iter().collect()
}

fn is_file_and_folder(group: &[Module]) -> bool {
    group.iter().any(|top| !top.is_empty() && group.iter().all(|module| module.starts_with(top)))
}

#[test]
fn a_circle_of_imports_holds_a_file_and_its_own_folder_alone() {
    let mut found = Vec::new();
    for (folder, _) in FLOORS {
        let all = modules(folder);
        for group in circles(&all).iter().filter(|group| !is_file_and_folder(group)) {
            let names: Vec<_> = group.iter().map(|module| module.join("/")).collect();
            found.push(format!("{folder}: {}", names.join(" ")));
        }
    }
    assert!(found.is_empty(), "files that import each other: {found:#?}");
}

#[test]
fn circles_are_found_through_what_is_passed_on_and_through_modules_imported_by_name() {
    let crate_of = |files: &[(&str, &str)]| -> BTreeMap<Module, String> {
        let module = |path: &str| path.split('/').filter(|s| !s.is_empty()).map(str::to_owned).collect();
        files.iter().map(|(path, code)| (module(path), (*code).to_owned())).collect()
    };
    let passed = crate_of(&[
        ("", "mod a;\nmod b;\npub use a::A;\n"),
        ("a", "use crate::b::{c::C, B};\n"),
        ("b", "fn f() -> crate::A { todo() }\n"),
    ]);
    assert_eq!(circles(&passed), [[vec!["a".to_owned()], vec!["b".to_owned()]]]);
    let by_name =
        crate_of(&[("", ""), ("a", "use super::b;\nfn f() { b::g() }\n"), ("b", "use crate::a;\nfn g() { a::f() }\n")]);
    assert_eq!(circles(&by_name).len(), 1);
    let own_folder = crate_of(&[("", ""), ("a", "mod b;\nuse b::B;\n"), ("a/b", "use super::A;\n")]);
    assert!(circles(&own_folder).iter().all(|group| is_file_and_folder(group)) && circles(&own_folder).len() == 1);
    let down = crate_of(&[("", ""), ("a", "use crate::b::B;\n"), ("b", "pub struct B;\n")]);
    assert!(circles(&down).is_empty());
}
