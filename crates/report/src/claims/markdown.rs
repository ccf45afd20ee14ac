//! Claims as a Markdown table: for the README of a paper and `results/README.md`.

use super::{ClaimVerdict, JudgedClaim};

/// A line a claim: place, claim, verdict, numbers, size.
pub fn claims_table(claims: &[JudgedClaim]) -> String {
    let mut out = "| claim | place | verdict | numbers | measured on |\n|---|---|---|---|---|\n".to_owned();
    for claim in claims {
        let verdict = match claim.verdict {
            ClaimVerdict::Holds => "**holds**",
            ClaimVerdict::DoesNotHold => "**does not hold**",
            ClaimVerdict::Untested(_) => "untested",
        };
        let numbers = match &claim.verdict {
            ClaimVerdict::Untested(why) => why,
            _ => &claim.numbers,
        };
        let cells = [&claim.says, &claim.place, verdict, numbers, &claim.size].map(|text| text.replace('|', "\\|"));
        out += &format!("| {} |\n", cells.join(" | "));
    }
    out
}

/// `12 of 15 claims hold, 2 do not, 1 is untested.`
pub(crate) fn claims_sentence(claims: &[JudgedClaim]) -> Option<String> {
    if claims.is_empty() {
        return None;
    }
    let count = |of: fn(&ClaimVerdict) -> bool| claims.iter().filter(|claim| of(&claim.verdict)).count();
    let holds = count(|verdict| *verdict == ClaimVerdict::Holds);
    let fails = count(|verdict| *verdict == ClaimVerdict::DoesNotHold);
    let untested = count(|verdict| matches!(verdict, ClaimVerdict::Untested(_)));
    let verb = |n: usize, one: &'static str, many: &'static str| if n == 1 { one } else { many };
    let mut parts = vec![format!("{holds} of {} claims of the paper {}", claims.len(), verb(holds, "holds", "hold"))];
    if fails > 0 {
        parts.push(format!("{fails} {} not", verb(fails, "does", "do")));
    }
    if untested > 0 {
        parts.push(format!("{untested} {} untested", verb(untested, "is", "are")));
    }
    Some(parts.join(", "))
}
