use super::*;
use crate::browser::Browser;
use crate::fixture;
use crate::plot::{Mark, PlotAxis};
use crate::results::Notation;

/// A page of `count` items in a spiral, with evil texts.
pub(crate) fn page(count: usize) -> MatrixPage {
    let angle = |item: usize| item as f64 * 0.7;
    let near = |item: usize| -> Vec<Near> {
        let of = |step: usize| Near {
            place: (item + step) % count,
            score: 1.0 / (step as f64 + 0.5),
            is_exact: step.is_multiple_of(2),
        };
        (1..=10.min(count - 1)).map(of).collect()
    };
    let points: Vec<(f64, f64)> = (0..count)
        .map(|item| ((item as f64).sqrt() * angle(item).cos(), (item as f64).sqrt() * angle(item).sin()))
        .collect();
    let text = |item: usize| match item {
        0 => "</script><script>document.title='taken'</script>".to_owned(),
        7 => "a lantern in the harbour".to_owned(),
        item => format!("text number {item} of them"),
    };
    let map = ItemMap {
        caption: "All of them & `code`".into(),
        ids: (0..count).map(|item| format!("n{item}")).collect(),
        texts: (0..count).map(text).collect(),
        layouts: vec![
            MapLayout { name: "spiral".into(), note: "a spiral".into(), points: points.clone() },
            MapLayout {
                name: "turned".into(),
                note: String::new(),
                points: points.iter().map(|&(x, y)| (y, x)).collect(),
            },
        ],
        colorings: vec![Coloring {
            name: "kinds".into(),
            names: vec!["even".into(), "odd <b>".into()],
            of: (0..count).map(|item| (item != 3).then_some(item % 2)).collect(),
        }],
        near: (0..count).map(near).collect(),
    };
    let item = |place: usize| Listed::Item { id: format!("n{place}"), text: text(place), place: Some(place) };
    let chapter = Chapter {
        id: "pairs".into(),
        title: "Pairs".into(),
        caption: "of `mine`".into(),
        plots: vec![Plot {
            title: "A curve".into(),
            x: PlotAxis::linear("landmarks", Notation::Whole).logarithmic(),
            y: PlotAxis::linear("error", Notation::Fixed(3)).holding(&[0.0]),
            marks: vec![
                Mark::Curve {
                    name: "error".into(),
                    ink: 0,
                    points: vec![(10.0, 0.5, 0.4, 0.6), (100.0, 0.1, 0.1, 0.1)],
                },
                Mark::Bars { name: "bars".into(), ink: 1, bars: vec![[10.0, 20.0, 0.3]] },
                Mark::Dots { name: "guess".into(), ink: 2, points: vec![(200.0, 0.05)], is_hollow: true },
            ],
        }],
        confusion: Some(Confusion { names: vec!["a<i>".into(), "b".into()], counts: vec![vec![3, 1], vec![0, 2]] }),
        listings: vec![Listing {
            heading: "Best".into(),
            head: vec!["similarity".into(), "one".into(), "other".into()],
            lines: vec![vec![Listed::Score { value: 0.75, is_exact: false }, item(0), item(7)]],
        }],
    };
    let tile = Tile { label: "calls".into(), value: "1,234".into(), note: "5 % of all pairs".into() };
    MatrixPage { lead: "It took little.".into(), tiles: vec![tile], map: Some(map), chapters: vec![chapter] }
}

pub(crate) fn html(page: &MatrixPage) -> String {
    let (rows, reference) = (fixture::rows(), fixture::reference());
    let input = crate::ReportInput { matrix: Some(page), ..fixture::input(&rows, &reference) };
    let rendered = crate::render(&input).unwrap();
    let (_, page) = rendered.files.into_iter().find(|(name, _)| name == "report.html").unwrap();
    String::from_utf8(page).unwrap()
}

#[test]
fn texts_are_escaped_wherever_they_stand_and_no_address_is_asked() {
    let html = html(&page(60));
    assert!(!html.contains("document.title='taken'</script>") && !html.contains("<script>document.title"));
    assert!(!html.contains("odd <b>") && !html.contains("a<i>") && html.contains("a&#60;i&#62;"));
    let html = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for sign in ["http:", "https:", "src=\"", "@import", "<link", "url(//"] {
        assert!(!html.contains(sign), "{sign}");
    }
    // the bytes of a font may spell anything
    let (_, body) = html.split_once("<body>").unwrap();
    assert!(!body.contains("NaN"));
}

#[test]
fn five_thousand_items_with_long_texts_stay_below_five_megabytes() {
    let mut page = page(5_000);
    if let Some(map) = &mut page.map {
        map.texts = (0..5_000).map(|item| format!("{item} is <a> \"text\" of öüß words ").repeat(60)).collect();
    }
    let size = html(&page).len();
    assert!(size < 5_000_000, "{size} bytes");
}

#[test]
fn an_empty_page_and_a_single_item_are_drawn() {
    let html_of = |page: &MatrixPage| html(page);
    assert!(html_of(&MatrixPage::default()).contains("<h1>"));
    let one = ItemMap {
        ids: vec!["only".into()],
        near: vec![Vec::new()],
        layouts: vec![MapLayout { name: "plane".into(), note: String::new(), points: vec![(0.0, 0.0)] }],
        ..ItemMap::default()
    };
    let html = html_of(&MatrixPage { map: Some(one), ..MatrixPage::default() });
    let (_, body) = html.split_once("<body>").unwrap();
    assert!(body.contains("M500.0 320.0h0") && !body.contains("NaN"));
}

#[test]
fn a_long_text_is_cut_at_a_character() {
    assert_eq!((cut("grün", 3).as_str(), cut("grün", 4).as_str(), cut("grün", 5).as_str()), ("gr…", "grü…", "grün"));
}

#[test]
fn in_a_browser_the_search_finds_a_click_lists_and_keys_move() {
    let Some(browser) = Browser::find() else { return };
    // what a reader would do, then what he sees, as a line of the page
    let probe = "<script>
        const errors = [];
        addEventListener('error', (event) => errors.push(event.message));
        const root = document.querySelector('[data-map]'), svg = root.querySelector('svg'), box = root.querySelector('.find');
        box.value = 'LANTERN harbour';
        box.dispatchEvent(new Event('input'));
        const found = [...root.querySelectorAll('.found b')].map((one) => one.textContent).join();
        root.querySelector('.found .go').click();
        const chosen = () => root.querySelector('.chosen h3').textContent;
        const searched = chosen();
        const lines = [...root.querySelectorAll('.chosen .go')];
        const marks = lines.slice(0, 2).map((one) => one.firstChild.className + ' ' + one.firstChild.textContent).join();
        svg.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
        const moved = chosen() !== searched;
        svg.dispatchEvent(new KeyboardEvent('keydown', { key: '+' }));
        const zoomed = svg.getAttribute('viewBox').split(' ')[2];
        root.querySelector('.paint').selectedIndex = 1;
        root.querySelector('.paint').dispatchEvent(new Event('change'));
        document.querySelector('[data-of] .go').click();
        const listed = chosen();
        const fits = document.documentElement.scrollWidth <= innerWidth;
        const seen = `found ${found}, chosen ${searched}, ${lines.length} near, ${marks}, moved ${moved}, zoomed ${zoomed}, listed ${listed}, fits ${fits}, title ${document.title}, errors ${errors}.`;
        document.body.replaceChildren(Object.assign(document.createElement('p'), { textContent: seen }));
    </script></body>";
    let page = html(&page(60)).replace("</body>", probe);
    let seen = browser.open(&page, &["--window-size=500,900", "--dump-dom"]);
    let wanted = "found n7, chosen n7, 10 near, estimated ≈ 0.667,exact 0.400, moved true, zoomed 700, listed n0, fits true, title ";
    assert!(seen.contains(wanted) && seen.contains("errors .") && !seen.contains("title taken"), "{seen}");
}

#[test]
fn in_a_browser_five_thousand_items_answer_at_once() {
    let Some(browser) = Browser::find() else { return };
    let probe = "<script>
        const root = document.querySelector('[data-map]'), svg = root.querySelector('svg');
        const frame = svg.getBoundingClientRect();
        for (const kind of ['pointermove', 'pointerdown', 'pointerup']) svg.dispatchEvent(new PointerEvent(kind, { pointerType: 'mouse', clientX: frame.left + frame.width / 2, clientY: frame.top + frame.height / 2 }));
        document.body.replaceChildren(`chosen ${root.querySelector('.chosen h3').textContent}, ${root.querySelectorAll('.chosen .go').length} near`);
    </script></body>";
    let seen = browser.open(&html(&page(5_000)).replace("</body>", probe), &["--window-size=1280,900", "--dump-dom"]);
    assert!(seen.contains("chosen n") && seen.contains(", 10 near"), "{}", &seen[..seen.len().min(2_000)]);
}
