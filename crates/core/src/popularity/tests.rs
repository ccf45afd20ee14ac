use super::*;

#[test]
fn a_fit_that_has_no_solution_gives_the_mean_score_and_says_why_and_never_zero() {
    let fit = |bad: f64| {
        HubLink::fit(1, false, 1, |_, take| {
            for proxy in [0.0, 1.0, bad, 3.0] {
                take(LinkRow { popularity: (0.0, 0.0), proxies: &[proxy], score: 5.0 });
            }
        })
    };
    for bad in [f64::NAN, f64::INFINITY] {
        let link = fit(bad);
        let fault = link.fault().expect("no solution");
        assert!(!fault.is_finite(), "{fault}");
        assert_eq!(link.coefficients[0], 5.0);
    }
    assert!(fit(2.0).fault().is_none());
    // without rows the link is 0, as documented
    let none = HubLink::fit(1, true, 0, |_, _| ());
    assert_eq!((none.fault(), none.at((1.0, 1.0), &[1.0])), (None, 0.0));
}
