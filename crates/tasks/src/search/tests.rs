use super::*;

fn space() -> Space {
    Space::from([
        ("gamma".to_string(), Dimension::LogUniform { low: 1e-3, high: 1e3 }),
        ("degree".to_string(), Dimension::Integer { low: 1, high: 6 }),
        ("kernel".to_string(), Dimension::Choices(vec!["rbf".into(), "linear".into(), "angular".into()])),
    ])
}

/// Lowest, 0, at γ = 1, degree 3, "linear".
fn bowl(point: &Point) -> Result<f64, SearchError> {
    let miss = if point.choice("kernel")? == "linear" { 0.0 } else { 2.0 };
    Ok(point.float("gamma")?.ln().powi(2) + (point.integer("degree")? - 3).pow(2) as f64 + miss)
}

fn search(strategy: Strategy) -> Search {
    Search::new(space(), strategy, Direction::Minimize, 5).unwrap()
}

#[test]
fn a_grid_visits_every_combination_once() {
    let mut search = search(Strategy::Grid { points: 4 });
    search.run(bowl).unwrap();
    // 4 of γ, 4 of 1..=6 (1, 3, 4, 6), 3 kernels
    assert_eq!(search.trials().len(), 4 * 4 * 3);
    for (k, trial) in search.trials().iter().enumerate() {
        assert!(search.trials()[..k].iter().all(|earlier| earlier.point != trial.point));
    }
    let gammas: Vec<Value> = Dimension::LogUniform { low: 1e-3, high: 1e3 }.grid(3);
    assert!(matches!(gammas[1], Value::Float(g) if (g - 1.0).abs() < 1e-12), "{gammas:?}");
    assert_eq!(search.best().unwrap().point.choice("kernel"), Ok("linear"));
}

#[test]
fn a_grid_with_more_combinations_than_numbers_is_refused() {
    let names = (0..64).map(|k| (format!("x{k}"), Dimension::Values(vec![0.0, 1.0])));
    let error = Search::new(names.collect(), Strategy::Grid { points: 2 }, Direction::Minimize, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the grid of 64 dimensions has more combinations than can be numbered: give them fewer values"
    );
}

#[test]
fn tpe_beats_random_draws_on_average() {
    let best = |strategy, seed| {
        let mut search = Search::new(space(), strategy, Direction::Minimize, seed).unwrap();
        bowl(&search.run(bowl).unwrap().point).unwrap()
    };
    let mean = |strategy| (0..20).map(|seed| best(strategy, seed)).sum::<f64>() / 20.0;
    let (tpe, random) = (mean(Strategy::Tpe { trials: 60, startup: 10 }), mean(Strategy::Random { trials: 60 }));
    assert!(tpe < 0.7 * random, "TPE {tpe}, random {random}");
}

#[test]
fn failures_are_recorded_and_never_best() {
    let mut search = search(Strategy::Tpe { trials: 40, startup: 5 });
    let fussy = |point: &Point| match point.integer("degree").unwrap() {
        4.. => Err("no such degree".to_string()),
        3 => Ok(f64::NAN),
        _ => bowl(point).map_err(|e| e.to_string()),
    };
    let best = search.run(fussy).unwrap().clone();
    assert_eq!(best.point.integer("degree"), Ok(2));
    let failed = |message: &str| {
        search.trials().iter().filter(|t| t.outcome == TrialOutcome::Failed(message.to_string())).count()
    };
    assert!(failed("no such degree") > 0 && failed("the objective is NaN") > 0);
    let mut hopeless = Search::new(space(), Strategy::Random { trials: 3 }, Direction::Minimize, 1).unwrap();
    let error = hopeless.run(|_| Err::<f64, _>("no data")).unwrap_err();
    assert_eq!(error.to_string(), "all 3 trials failed; the last one: no data");
}

#[test]
fn maximizing_is_minimizing_the_negative() {
    let mut down = search(Strategy::Tpe { trials: 25, startup: 5 });
    let mut up = Search { direction: Direction::Maximize, ..down.clone() };
    let low = down.run(bowl).unwrap().point.clone();
    let high = up.run(|point| bowl(point).map(|v| -v)).unwrap().point.clone();
    assert_eq!(low, high);
}

fn lies_in(dimension: &Dimension, value: &Value) -> bool {
    match (dimension, value) {
        (Dimension::Values(values), Value::Float(x)) => values.contains(x),
        (Dimension::Uniform { low, high } | Dimension::LogUniform { low, high }, Value::Float(x)) => {
            (low..=high).contains(&x)
        }
        (Dimension::Integer { low, high }, Value::Integer(x)) => (low..=high).contains(&x),
        (Dimension::Choices(choices), Value::Choice(x)) => choices.contains(x),
        _ => false,
    }
}

#[test]
fn every_draw_and_proposal_lies_in_the_space() {
    let space = Space::from([
        ("a".to_string(), Dimension::Values(vec![0.5, 3.0, 0.25])),
        ("b".to_string(), Dimension::Uniform { low: -1.0, high: 1.0 }),
        ("c".to_string(), Dimension::LogUniform { low: 1.0, high: 1e12 }),
        ("d".to_string(), Dimension::Integer { low: 4, high: 4 }),
        ("e".to_string(), Dimension::Choices(vec!["only".into()])),
    ]);
    let mut search =
        Search::new(space.clone(), Strategy::Tpe { trials: 60, startup: 10 }, Direction::Maximize, 9).unwrap();
    search.run(|point| point.float("b")).unwrap();
    for trial in search.trials() {
        let values = trial.point.values();
        assert!(values.len() == space.len() && space.iter().all(|(name, dimension)| lies_in(dimension, &values[name])));
    }
}

#[test]
fn bad_spaces_are_refused_by_name() {
    let message = |name: &str, dimension| {
        let space = Space::from([(name.to_string(), dimension)]);
        Search::new(space, Strategy::Random { trials: 1 }, Direction::Minimize, 1).unwrap_err().to_string()
    };
    assert_eq!(
        message("gamma", Dimension::LogUniform { low: 0.0, high: 1.0 }),
        "dimension `gamma`: `low` is 0, but must be positive"
    );
    assert_eq!(message("c", Dimension::Values(vec![])), "dimension `c`: the list of values is empty");
    assert_eq!(
        message("c", Dimension::Uniform { low: 2.0, high: 2.0 }),
        "dimension `c`: `low` 2 must be below `high` 2, both finite"
    );
    let empty = Search::new(Space::new(), Strategy::Random { trials: 1 }, Direction::Minimize, 1);
    assert_eq!(empty, Err(SearchError::EmptySpace));
}
