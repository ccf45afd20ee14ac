use ndarray::Array2;

use super::*;

/// Scores 2 + 3p + h over 40 pairs, proxies and scores in these units.
fn fitted(proxy_unit: f64, score_unit: f64) -> HubLink {
    HubLink::fit(1, true, 4, |chunk, take| {
        for k in 0..10 {
            let (h, p) = (f64::from(k) / 5.0 - 1.0, ((10 * chunk as i32 + k) as f64).sin());
            let score = score_unit * (2.0 + 3.0 * p + h);
            take(LinkRow { popularity: (h, 0.0), proxies: &[proxy_unit * p], score });
        }
    })
}

#[test]
fn a_link_does_not_depend_on_the_unit_of_proxies_and_scores() {
    let plain = fitted(1.0, 1.0);
    assert!(plain.fault().is_none() && (plain.at((0.5, 0.0), &[0.25]) - 3.25).abs() < 1e-3);
    for (proxy, score) in [(1000, 0), (-1000, 0), (0, 1000), (0, -1000), (560, 560), (-560, 900)] {
        let (proxy_unit, score_unit) = (2.0_f64.powi(proxy), 2.0_f64.powi(score));
        let link = fitted(proxy_unit, score_unit);
        assert_eq!(link.fault(), None);
        for (h, p) in [(0.5, 0.25), (-1.0, 0.9)] {
            let wanted = score_unit * plain.at((h, 0.0), &[p]);
            // powers of two round nothing
            assert_eq!(link.at((h, 0.0), &[proxy_unit * p]), wanted, "2^{proxy}, 2^{score}");
        }
    }
}

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
    // without rows the link is 0, as it says
    let none = HubLink::fit(1, true, 0, |_, _| ());
    assert_eq!((none.fault(), none.at((1.0, 1.0), &[1.0])), (None, 0.0));
}

#[test]
fn popularity_does_not_depend_on_the_unit_of_the_scores() {
    let scores = Array2::from_shape_fn((6, 3), |(i, l)| (i * 3 + l) as f64 + ((i + 2 * l) as f64).sin());
    let plain = Popularity::of(&[0, 2, 4], scores.view());
    for exponent in [-1000, -560, 560, 1000] {
        let scaled = Popularity::of(&[0, 2, 4], (&scores * 2.0_f64.powi(exponent)).view());
        assert_eq!(scaled.values(), plain.values(), "2^{exponent}");
    }
}
