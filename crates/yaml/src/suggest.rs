//! "Did you mean …?": the nearest known name to what was typed.

/// The nearest of `known`, if it is near enough to be what was meant: at most a third of the letters wrong (case, `-`
/// and `_` do not count), or the one name that begins with what was typed.
pub fn did_you_mean<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace(['-', ' '], "_");
    let typed = plain(typed);
    let known: Vec<&str> = known.into_iter().collect();
    let allowed = (typed.chars().count() / 3).max(1);
    let near = known
        .iter()
        .map(|&name| (strsim::damerau_levenshtein(&typed, &plain(name)), name))
        .filter(|&(distance, name)| distance <= allowed && distance < name.chars().count())
        .min_by_key(|&(distance, _)| distance);
    if let Some((_, name)) = near {
        return Some(name);
    }
    let mut beginning = known.iter().filter(|name| typed.len() >= 2 && plain(name).starts_with(&typed));
    match (beginning.next(), beginning.next()) {
        (Some(&only), None) => Some(only),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METHODS: [&str; 5] = ["nystrom", "sms_nystrom", "skeleton", "sicur", "stacur"];

    #[test]
    fn a_slip_of_the_keyboard_is_understood() {
        for (typed, meant) in
            [("nystorm", "nystrom"), ("SMS-Nystrom", "sms_nystrom"), ("sicurr", "sicur"), ("sms", "sms_nystrom")]
        {
            assert_eq!(did_you_mean(typed, METHODS), Some(meant), "{typed}");
        }
    }

    #[test]
    fn a_foreign_word_gets_no_guess() {
        assert_eq!(did_you_mean("kernel_pca", METHODS), None);
        assert_eq!(did_you_mean("s", METHODS), None);
    }
}
