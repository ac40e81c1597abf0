//! What a page asks of the core, without a page.

use crate::problem::LocatedProblem;
use crate::run::{Finished, Run, RunProgress, Step};
use crate::scenario::{Beside, PageScenario};
use anabranch_engine::records::{Column, Table};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

const NODES: &str = r#"title = "two flows"
[network]
[[network.node]]
name = "a"
[[network.node]]
name = "b"
[[network.node]]
name = "c"
[network.links]
capacity = "10 Mbps"
delay = "5 ms"
queue = "20 packets"
[[network.link]]
between = ["a", "b"]
new = true
[[network.link]]
between = ["b", "c"]
new = true
"#;
const TRAFFIC: &str = r#"[[traffic]]
from = "a"
to = "c"
transport = "cubic"
[[traffic]]
from = "c"
to = "a"
transport = "newreno"
start = "500 ms"
[[event]]
at = "2 s"
link = ["a", "b"]
state = "down"
[[event]]
at = "3 s"
link = ["a", "b"]
state = "up"
[run]
duration = "12 s"
"#;

fn whole() -> String {
    format!("{NODES}{TRAFFIC}")
}

fn start(text: &str) -> Result<Run, Vec<LocatedProblem>> {
    start_beside(text, None, &BTreeMap::new())
}

fn start_beside(
    text: &str,
    network: Option<&str>,
    files: &BTreeMap<String, String>,
) -> Result<Run, Vec<LocatedProblem>> {
    PageScenario::read(text).start(Beside { network, files })
}

fn refused(text: &str) -> Vec<LocatedProblem> {
    start(text).err().expect("a mistake")
}

/// The one mistake of a text: its place, its line as the text has it, and its message.
fn told(text: &str, network: Option<&str>) -> (String, String, String) {
    let problems = start_beside(text, network, &BTreeMap::new()).err().expect("a mistake");
    let [problem] = &problems[..] else { panic!("one mistake, not {problems:?}") };
    let line =
        problem.position.map_or("", |(line, _)| text.lines().nth(line - 1).expect("a line of the text"));
    (problem.place.clone(), line.to_owned(), problem.message.clone())
}

/// Bits, so that NaN is equal to itself.
fn bits(tables: &[Table]) -> Vec<(String, Vec<u64>)> {
    let bits = |column: &Column| match column {
        Column::Integers(values) => values.clone(),
        Column::Numbers(values) => values.iter().map(|value| value.to_bits()).collect(),
        Column::Texts(values) => values.iter().map(|text| text.len() as u64).collect(),
        Column::Choices { places, .. } => places.iter().map(|&place| u64::from(place)).collect(),
    };
    let of_table = |table: &Table| {
        let named = |(name, column): &(&str, Column)| (format!("{}.{name}", table.name), bits(column));
        table.columns.iter().map(named).collect::<Vec<_>>()
    };
    tables.iter().flat_map(of_table).collect()
}

fn finished(run: &mut Run) -> Finished {
    run.finish().expect("books that balance")
}

fn go_on(run: &mut Run, step: Step) -> RunProgress {
    run.advance(step, |_| ControlFlow::Continue(())).expect("a step")
}

#[test]
fn steps_of_any_kind_lead_to_what_one_run_gives() {
    let mut at_once = start(&whole()).expect("a run");
    assert!(go_on(&mut at_once, Step::ToEnd).is_done);
    let expected = bits(&finished(&mut at_once).outcome.tables);
    let step = Step::of_span(Some("137 ms")).expect("a time");
    for step in [step, Step::PacketHops(1), Step::ToEnd] {
        let mut run = start(&whole()).expect("a run");
        let mut progress = run.progress().expect("a run in progress");
        assert!(progress.share() == 0.0 && !progress.is_done);
        while !progress.is_done {
            // Stops wherever it may: also while new routes are computed, where the next step begins anew.
            let next = run.advance(step, |_| ControlFlow::Break(())).expect("a step");
            assert!(next.share() >= progress.share() && next.progress.events >= progress.progress.events);
            assert!(next.progress.packet_hops >= progress.progress.packet_hops);
            assert!(next != progress, "a step that goes nowhere: {next:?}");
            progress = next;
        }
        assert_eq!(progress.share(), 1.0);
        assert!(bits(&finished(&mut run).outcome.tables) == expected, "{step:?}");
    }
}

#[test]
fn a_budget_of_packet_hops_ends_a_step() {
    let mut run = start(&whole()).expect("a run");
    let progress = go_on(&mut run, Step::PacketHops(1));
    assert!(!progress.is_done && progress.progress.packet_hops >= 1);
    for nothing in [0.0, -1.0, f64::NAN] {
        assert!(Step::of_packet_hops(nothing).is_err());
    }
    assert_eq!(Step::of_packet_hops(f64::INFINITY).ok(), Some(Step::PacketHops(u64::MAX)));
}

#[test]
fn a_run_that_is_ended_early_says_so_and_takes_no_further_step() {
    let mut run = start(&whole()).expect("a run");
    go_on(&mut run, Step::until("4 s").expect("a time"));
    let flows = run.flows().expect("flows");
    assert!(flows.integer("delivered_bytes").expect("a column").iter().all(|&bytes| bytes > 0));
    assert_eq!(run.links().expect("links").text("name").map(|names| names.len()), Some(4));
    assert!(run.advance(Step::until("3 s").expect("a time"), |_| ControlFlow::Continue(())).is_err());
    let outcome = finished(&mut run).outcome;
    assert!(outcome.interrupted && outcome.ended.as_secs_f64() == 4.0);
    assert_eq!(
        run.progress().expect_err("finished").to_string(),
        "the simulation is finished; start another one"
    );
    assert!(run.finish().is_err() && run.flows().is_err());
}

#[test]
fn mistakes_have_line_and_column() {
    let text = whole().replace("to = \"c\"", "to = \"z\"");
    let (place, line, message) = told(&text, None);
    assert_eq!((place.as_str(), line.as_str()), ("traffic[0].to", "to = \"z\""));
    assert!(message.starts_with("no node \"z\" in this scenario"), "{message}");
    let [problem] = &refused("a = 1\nb = oops\n")[..] else { panic!("one mistake") };
    assert_eq!((problem.place.as_str(), problem.position), ("", Some((2, 5))));
    assert!(problem.message.ends_with("write b = \"oops\""), "{problem}");
    let deep = refused(&format!("{} = 1", ["a"; 30_000].join(".")));
    assert!(deep[0].message.contains("more than 64 parts"));
    let wrong = format!("{}x = [1\n", "oops\n".repeat(1_000));
    let problems = refused(&wrong);
    assert_eq!(problems.len(), 101);
    assert_eq!(problems[99].position.map(|(line, _)| line), Some(100));
}

#[test]
fn a_flow_that_the_engine_refuses_is_told_at_its_entry() {
    let text = whole().replace("from = \"c\"\nto = \"a\"\n", "name = \"back\"\nfrom = \"c\"\nto = \"a\"\n");
    let scenario = PageScenario::read(&text);
    let error = anabranch_engine::SetupError::new("flows[1].to", "is wrong").into();
    let root = anabranch_scenario::toml_text::parse(&text).expect("TOML");
    let document = crate::problem::Document { text: &text, root: &root };
    let entry = |name: &str| anabranch_scenario::setup::EntrySetup {
        name: name.into(),
        transport: 0,
        routing: 0,
        source: anabranch_engine::setup::SourceSetup::Sized { bytes: 1 },
        reads: None,
    };
    let flows = anabranch_scenario::setup::FlowColumns {
        entries: vec![entry("traffic[0]"), entry("back")],
        entry: vec![0, 1],
        number: vec![0, 0],
        from: vec![0, 2],
        to: vec![2, 0],
        bytes: vec![0, 0],
        start: vec![0, 0],
        stop: vec![0, 0],
    };
    let problem = document.refused(&error, &flows);
    assert!(scenario.problems().is_empty());
    assert_eq!(problem.place, "to of the flow back.0");
    let line = problem.position.map(|(line, _)| line).expect("a line");
    assert_eq!(text.lines().nth(line - 1), Some("to = \"a\""));
}

#[test]
fn texts_in_other_encodings_are_told() {
    let message = |bytes: &[u8]| PageScenario::of_bytes(bytes).problems()[0].message.clone();
    let with_mark = format!("\u{feff}{}", whole());
    assert!(PageScenario::of_bytes(with_mark.as_bytes()).problems().is_empty());
    for (mark, to_bytes) in [(0xfeff, u16::to_le_bytes as fn(u16) -> [u8; 2]), (0xfeff, u16::to_be_bytes)] {
        let units = std::iter::once(mark).chain(whole().encode_utf16().collect::<Vec<_>>());
        let bytes: Vec<u8> = units.flat_map(to_bytes).collect();
        assert!(message(&bytes).ends_with("it looks like UTF-16, save it as UTF-8"), "{}", message(&bytes));
    }
    let without_mark: String = whole().chars().flat_map(|c| [c, '\0']).collect();
    assert!(message(without_mark.as_bytes()).contains("UTF-16"));
    assert_eq!(message(b"a = 1\nb = \"\xf6\"\n"), "line 2: not UTF-8 text (byte 0xf6); save it as UTF-8");
    let [problem] = &refused(&format!("{}#", " ".repeat(10_000_000)))[..] else { panic!("one mistake") };
    assert_eq!(problem.message, "larger than 10 MB, so it is not a scenario");
}

#[test]
fn toml_1_1_is_read() {
    let inline = "{ distribution = \"constant\", value = \"1 us\" }";
    let text = format!("{}[network.hosts]\nprocessing_delay = {inline}\n", whole());
    assert!(start(&text).is_ok());
    assert!(start(&text.replace("{ ", "{\n").replace(" }", ",\n}")).is_ok());
}

#[test]
fn what_a_page_has_not_is_told_at_its_place() {
    let with = |more: &str| format!("{}{more}\n", whole());
    let cubic = "transport = \"cubic\"";
    let cases = [
        (
            with("[[capture]]\nhost = \"a\"\nfile = \"a.pcapng\""),
            "capture[0]",
            "[[capture]]",
            "a page writes none",
        ),
        (
            with(
                "[routing]\nscheme = \"hybrid-hop\"\ndemand = { egress = \"1 Gbps\", ingress = \"1 Gbps\" }",
            ),
            "routing.scheme",
            "scheme = \"hybrid-hop\"",
            "\"hybrid-hop\" is planned in Python",
        ),
        (
            with("[routing]\nscheme = { python = \"mine:Scheme\" }"),
            "routing.scheme",
            "scheme = { python = \"mine:Scheme\" }",
            "\"mine:Scheme\" is a class of your own",
        ),
        (
            with("[routing]\nload_balancing = { python = \"mine:Balancer\" }"),
            "routing.load_balancing",
            "load_balancing = { python = \"mine:Balancer\" }",
            "is a class of your own",
        ),
        (
            with("[network]\n")
                .replacen("[network]\n", "[network]\nweights = \"file:w.csv\"\n", 1)
                .replace("\n[network]\n\n", "\n"),
            "network.weights",
            "weights = \"file:w.csv\"",
            "\"w.csv\" cannot be read: the page gave no file",
        ),
        (
            whole().replacen(
                cubic,
                "transport = \"cubic\"\nrouting = { scheme = { python = \"mine:Own\" } }",
                1,
            ),
            "traffic[0].routing.scheme",
            "routing = { scheme = { python = \"mine:Own\" } }",
            "is a class of your own",
        ),
        (
            with("[transport.own]\npreset = \"cubic\"\ncongestion_control = { python = \"mine:Vegas\" }")
                .replacen(cubic, "transport = \"own\"", 1),
            "transport.own.congestion_control",
            "congestion_control = { python = \"mine:Vegas\" }",
            "\"mine:Vegas\" is a class of your own",
        ),
        (
            whole().replacen("[network]\n", "[network]\ntopology = \"zoo/Abilene\"\n", 1),
            "network.topology",
            "topology = \"zoo/Abilene\"",
            "the page gave no network for \"zoo/Abilene\"",
        ),
        (
            whole().replace("duration = \"12 s\"", "duration = \"30 min\"\nsample_interval = \"100 us\""),
            "run.sample_interval",
            "sample_interval = \"100 us\"",
            "rows of series need more than 4.3 GB",
        ),
    ];
    for (text, place, line, message) in cases {
        let said = told(&text, None);
        assert_eq!((said.0.as_str(), said.1.as_str()), (place, line), "{}", said.2);
        assert!(said.2.contains(message), "{}", said.2);
    }
}

#[test]
fn a_file_that_the_page_gives_is_read() {
    let text = whole().replacen("[network]\n", "[network]\nweights = \"file:w.csv\"\n", 1);
    let files = BTreeMap::from([("w.csv".to_owned(), "from,to,weight\na,b,3\nb,c,4\n".to_owned())]);
    if let Err(problems) = start_beside(&text, None, &files) {
        panic!("{problems:?}");
    }
}

#[test]
fn traffic_goes_by_routes_of_its_own() {
    let direct = "[[network.link]]\nbetween = [\"a\", \"c\"]\nnew = true\ndelay = \"50 ms\"\n";
    let text = format!("{NODES}{direct}{TRAFFIC}[routing]\nmetric = \"delay\"\n");
    let text =
        text.replacen("transport = \"cubic\"", "transport = \"cubic\"\nrouting = { metric = \"hops\" }", 1);
    let mut run = start(&text).expect("a run");
    go_on(&mut run, Step::until("1 s").expect("a time"));
    let flows = run.flows().expect("flows");
    let rtts = flows.number("rtt_min_ms").expect("a column");
    // One link of 50 ms each way, and two of 5 ms each; some hundreds of microseconds to send a packet.
    assert!((100.0..101.0).contains(&rtts[0]) && (20.0..21.0).contains(&rtts[1]), "{rtts:?}");
}

#[test]
fn limits_that_leave_no_path_are_told() {
    let (place, line, message) = told(&format!("{}[routing]\nmax_delay = \"9 ms\"\n", whole()), None);
    assert_eq!((place.as_str(), line.as_str()), ("routing.max_delay", "max_delay = \"9 ms\""));
    assert_eq!(
        message,
        "leaves no path from \"a\" to \"c\", and 1 other pair has none; allow more, or leave it out"
    );
}

/// A network's file, and a scenario over it.
fn line_of_two(topology: &str, parameters: &str, links: &str) -> (String, String) {
    let file = format!(
        r#"{{"topology": "{topology}", "parameters": {parameters}, "network": {{"label": "{topology}", "is_generated": true,
            "nodes": [{{"name": "n1"}}, {{"name": "n2"}}], "links": [{links}]}}}}"#
    );
    let text = "[network]\ntopology = \"line\"\n[network.parameters]\nnodes = 2\n[network.links]\ncapacity = \"1 Mbps\"\ndelay = \
         \"1 ms\"\n[[traffic]]\nfrom = \"n1\"\nto = \"n2\"\ntransport = \"cubic\"\n[run]\nduration = \"1 s\"\n";
    (file, text.to_owned())
}

#[test]
fn a_network_is_that_of_the_scenario() {
    let link = r#"{"a": "n1", "b": "n2"}"#;
    let (file, text) = line_of_two("line", r#"{"nodes": 2}"#, link);
    assert!(start_beside(&text, Some(&file), &BTreeMap::new()).is_ok());
    let cases = [
        (
            line_of_two("grid", r#"{"nodes": 2}"#, link).0,
            "network.topology",
            "the page gave the network \"grid\"",
        ),
        (
            line_of_two("line", r#"{"nodes": 3}"#, link).0,
            "network.parameters.nodes",
            "was made with nodes = 3",
        ),
        (
            line_of_two("line", "{}", link).0,
            "network.parameters.nodes",
            "was made with left out; here it is nodes = 2",
        ),
        (line_of_two("line", r#"{"nodes": 2, "x": 1}"#, link).0, "network", "was made with x = 1"),
        (
            line_of_two("line", r#"{"nodes": 2}"#, r#"{"a": "n1", "b": "n3"}"#).0,
            "network",
            "\"n3\", which is no node",
        ),
        (line_of_two("line", r#"{"nodes": 2}"#, r#"{"a": "n1", "b": "n1"}"#).0, "network", "to itself"),
        (
            line_of_two("line", r#"{"nodes": 2}"#, r#"{"a": "n1", "b": "n2", "capacity_bps": 0}"#).0,
            "network",
            "capacity_bps of links[0]",
        ),
        (file.replace("\"n2\"}]", "\"n1\"}]"), "network", "two nodes are named \"n1\""),
        (file.replace("\"is_generated\"", "\"generated\""), "network", "unknown field `generated`"),
        ("{".to_owned(), "network", "what the page gave is no network"),
    ];
    for (file, place, message) in cases {
        let said = told(&text, Some(&file));
        assert_eq!(said.0, place, "{}", said.2);
        assert!(said.2.contains(message), "{}", said.2);
    }
    let said = told(&whole(), Some(&file));
    assert!(said.2.contains("which the scenario does not name"), "{}", said.2);
}

#[test]
fn the_name_of_a_network_s_file_is_that_of_make_networks() {
    let name = |parameters: &str| {
        let text = line_of_two("line", "{}", "").1.replace("nodes = 2\n", parameters);
        PageScenario::read(&text).network_file()
    };
    assert_eq!(name("").as_deref(), Some("line.json"));
    // sha256 of {"nodes":2}, by sha256sum.
    assert_eq!(name("nodes = 2\n").as_deref(), Some("line-932f0a3024994210.json"));
    assert_eq!(PageScenario::read(&whole()).network_file(), None);
}

#[test]
fn changes_of_a_text_keep_all_else() {
    let text = "# mine\n[network.links]\nqueue = \"1 packets\" # short\n";
    let changes = r#"[{"place": "network.links.queue", "set": "\"2 packets\""}, {"place": ["run", "seed"], "set": "3"},
        {"place": "traffic", "set": "[]"}, {"place": ["traffic"], "append": "{ from = \"a\" }"}]"#;
    let edited = crate::text::changed(text, changes).expect("changes");
    assert!(edited.contains("# mine\n[network.links]\nqueue = \"2 packets\" # short\n"), "{edited}");
    let data = crate::text::data(&edited).expect("TOML");
    assert_eq!(data["run"]["seed"], 3);
    assert_eq!(data["traffic"][0]["from"], "a");
    for wrong in [
        r#"[{"place": "a"}]"#,
        r#"[{"place": "a", "set": "1", "remove": true}]"#,
        r#"[{"place": "", "set": "1"}]"#,
        r#"[{"place": "a", "set": "oops"}]"#,
        "{}",
    ] {
        assert!(crate::text::changed(text, wrong).is_err(), "{wrong}");
    }
    assert_eq!(crate::text::data("a = oops"), None);
}

#[test]
fn a_network_is_drawn_whatever_is_wrong_with_the_rest() {
    let text = whole().replace("duration = \"12 s\"", "duration = \"12 parsecs\"");
    assert!(!PageScenario::read(&text).problems().is_empty());
    let files = BTreeMap::new();
    let network = PageScenario::of_network(&text).network(Beside { network: None, files: &files });
    let network = network.expect("a network");
    let names: Vec<_> = network.nodes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let first = &network.links[0];
    assert_eq!(
        (first.0.as_str(), first.1, first.2, first.3, first.4),
        ("a->b", 0, 1, 10_000_000, 5_000_000_000)
    );
    let wrong = PageScenario::of_network("[network]\nlinks = 3\n");
    let problems = wrong.network(Beside { network: None, files: &files }).expect_err("a mistake");
    assert_eq!((problems[0].place.as_str(), problems[0].position), ("network.links", Some((2, 9))));
}

#[test]
fn routes_of_pairs_are_told() {
    use anabranch_units::NodeId;
    let run = start(&whole()).expect("a run");
    let routes = run.routes().of_pair(NodeId(0), NodeId(2)).expect("a route");
    assert_eq!(routes.paths, [(1.0, vec![0, 2], "a > b > c".to_owned())]);
    assert_eq!((routes.count, routes.shares), (1, vec![(0, 1.0), (2, 1.0)]));
    assert!(run.routes().of_pair(NodeId(1), NodeId(2)).is_none() && !run.routes().has_others());
}
