//! The classes that a page sees.
//!
//! Answers are plain objects and typed arrays, so that a worker can post them; whole numbers of 64 bits are `bigint`.

mod types;
mod values;

use crate::run::{Run, RunError, RunProgress, Step};
use crate::scenario;
use crate::text;
use anabranch_engine::network::read_path;
use anabranch_units::NodeId;
use js_sys::Function;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use values::{problem_list, progress_object, result_object, scenario_error, table_object};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(message: &str);
}

/// A panic, which is a bug, says in the console what it is; the browser alone says "unreachable".
#[wasm_bindgen(start)]
pub fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| console_error(&format!("Anabranch: {panic}"))));
}

/// A scenario: everything that one run needs, as TOML.
#[wasm_bindgen]
pub struct Scenario(scenario::PageScenario);

#[wasm_bindgen]
impl Scenario {
    /// Reads a scenario, as text or as the bytes of its file. It throws nothing: `problems` has what is wrong.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "string | Uint8Array")] source: &JsValue,
    ) -> Result<Self, JsError> {
        if let Some(text) = source.as_string() {
            return Ok(Self(scenario::PageScenario::read(&text)));
        }
        let bytes = source.dyn_ref::<js_sys::Uint8Array>();
        let bytes =
            bytes.ok_or_else(|| JsError::new("a scenario is text, or the bytes of a file (Uint8Array)"))?;
        Ok(Self(scenario::PageScenario::of_bytes(&bytes.to_vec())))
    }

    /// Reads the network in a text alone, whatever is wrong with the rest: for `network` of one that cannot run.
    #[wasm_bindgen(js_name = ofNetwork)]
    #[must_use]
    pub fn of_network(text: &str) -> Self {
        Self(scenario::PageScenario::of_network(text))
    }

    /// Its network to draw: `nodes`, each `[name, [north, east] | null]` in degrees, and `links`, each
    /// `[name, from, to, bit/s, picoseconds]`. The arguments are those of `check`. Throws a `ScenarioError`.
    #[wasm_bindgen(unchecked_return_type = "DrawnNetwork")]
    pub fn network(
        &self,
        network: Option<String>,
        #[wasm_bindgen(unchecked_optional_param_type = "Record<string, string>")] files: Option<
            js_sys::Object,
        >,
    ) -> Result<JsValue, JsValue> {
        let files = texts(files.as_ref())?;
        let beside = scenario::Beside { network: network.as_deref(), files: &files };
        let drawn = self.0.network(beside).map_err(|problems| scenario_error(&problems))?;
        plain_value(&drawn)
    }

    /// What is wrong with it, as far as it is seen without a network; empty where nothing is.
    #[wasm_bindgen(getter, unchecked_return_type = "Problem[]")]
    pub fn problems(&self) -> JsValue {
        problem_list(self.0.problems())
    }

    /// What it writes as `network.topology`; `undefined` where it lists its nodes itself, or cannot be read.
    #[wasm_bindgen(getter)]
    pub fn topology(&self) -> Option<String> {
        self.0.topology().map(str::to_owned)
    }

    /// The file of this topology's network, for its parameters, among those that `make networks` writes: the page
    /// fetches it and gives its text to `start`. `undefined` where `topology` is.
    #[wasm_bindgen(getter, js_name = networkFile)]
    pub fn network_file(&self) -> Option<String> {
        self.0.network_file()
    }

    /// Its title; empty without one.
    #[wasm_bindgen(getter)]
    pub fn title(&self) -> String {
        self.0.title().to_owned()
    }

    /// Checks it over the network of its topology; empty where it would start.
    ///
    /// `network` is the text of the network's file, `files` has the texts of the files that the scenario names, by name.
    #[wasm_bindgen(unchecked_return_type = "Problem[]")]
    pub fn check(
        &self,
        network: Option<String>,
        #[wasm_bindgen(unchecked_optional_param_type = "Record<string, string>")] files: Option<
            js_sys::Object,
        >,
    ) -> Result<JsValue, JsError> {
        let files = texts(files.as_ref())?;
        let beside = scenario::Beside { network: network.as_deref(), files: &files };
        Ok(problem_list(&self.0.start(beside).err().unwrap_or_default()))
    }

    /// Makes the routes, and a simulation that stands at time zero, before the first event.
    ///
    /// The arguments are those of `check`. Throws a `ScenarioError` if anything is wrong.
    pub fn start(
        &self,
        network: Option<String>,
        #[wasm_bindgen(unchecked_optional_param_type = "Record<string, string>")] files: Option<
            js_sys::Object,
        >,
    ) -> Result<Simulation, JsValue> {
        let files = texts(files.as_ref())?;
        let beside = scenario::Beside { network: network.as_deref(), files: &files };
        self.0.start(beside).map(Simulation).map_err(|problems| scenario_error(&problems))
    }
}

/// The texts of an object by their names.
fn texts(files: Option<&js_sys::Object>) -> Result<BTreeMap<String, String>, JsError> {
    let mut texts = BTreeMap::new();
    for entry in files.map(js_sys::Object::entries).unwrap_or_default() {
        let entry = js_sys::Array::from(&entry);
        let name = entry.get(0).as_string().unwrap_or_default();
        let text = entry.get(1).as_string();
        let text = text.ok_or_else(|| JsError::new(&format!("the file \"{name}\" is no text")))?;
        texts.insert(name, text);
    }
    Ok(texts)
}

/// A run in progress. Whatever its steps, it computes what one step does, to the last bit.
///
/// A step that takes a `watch` calls it every 65,536 events with the progress; where the answer is `true`, the step
/// ends there, and the next one goes on from there.
#[wasm_bindgen]
pub struct Simulation(Run);

#[wasm_bindgen]
impl Simulation {
    /// How far it has come. Throws if it is finished, as all below do.
    #[wasm_bindgen(getter, unchecked_return_type = "Progress")]
    pub fn progress(&self) -> Result<JsValue, JsError> {
        Ok(progress_object(&self.0.progress().map_err(error)?))
    }

    /// Goes on for a time such as `"10 ms"`, at most to the end; without one to the end.
    #[wasm_bindgen(unchecked_return_type = "Progress")]
    pub fn advance(
        &mut self,
        span: Option<String>,
        #[wasm_bindgen(unchecked_optional_param_type = "Watch")] watch: Option<Function>,
    ) -> Result<JsValue, JsValue> {
        self.step(Step::of_span(span.as_deref()), watch.as_ref())
    }

    /// Goes on to a time such as `"1 s"`, at most to the end. Throws if it is past.
    #[wasm_bindgen(js_name = advanceUntil, unchecked_return_type = "Progress")]
    pub fn advance_until(
        &mut self,
        time: &str,
        #[wasm_bindgen(unchecked_optional_param_type = "Watch")] watch: Option<Function>,
    ) -> Result<JsValue, JsValue> {
        self.step(Step::until(time), watch.as_ref())
    }

    /// Goes on for about so many packet-hops, at most to the end: a step ends at the first 65,536th event of the run
    /// behind them. A million takes some tens of milliseconds to a tenth of a second.
    #[wasm_bindgen(js_name = advancePacketHops, unchecked_return_type = "Progress")]
    pub fn advance_packet_hops(
        &mut self,
        count: f64,
        #[wasm_bindgen(unchecked_optional_param_type = "Watch")] watch: Option<Function>,
    ) -> Result<JsValue, JsValue> {
        self.step(Step::of_packet_hops(count), watch.as_ref())
    }

    /// The flows as they are now: the columns of `flows` in the manual, and the state.
    #[wasm_bindgen(unchecked_return_type = "Table")]
    pub fn flows(&mut self) -> Result<JsValue, JsError> {
        self.0.flows().map(table_object).map_err(error)
    }

    /// The pings and flows of UDP so far.
    #[wasm_bindgen(js_name = datagramFlows, unchecked_return_type = "Table")]
    pub fn datagram_flows(&mut self) -> Result<JsValue, JsError> {
        self.0.datagram_flows().map(table_object).map_err(error)
    }

    /// The directed links as they are now: the columns of `links` in the manual, and the state.
    #[wasm_bindgen(unchecked_return_type = "Table")]
    pub fn links(&mut self) -> Result<JsValue, JsError> {
        self.0.links().map(table_object).map_err(error)
    }

    /// Ends the run where it is and gives all tables; before its end, `summary.interrupted` is true.
    #[wasm_bindgen(unchecked_return_type = "Result")]
    pub fn finish(&mut self) -> Result<JsValue, JsError> {
        self.0.finish().map(result_object).map_err(error)
    }

    /// The routes of pairs at the start of the run: for each pair of numbers of nodes in `pairs`, one behind the other, its
    /// `count` of paths (0 hop by hop), the first 50 `paths`, each `[share, links, text]`, and `shares`, each `[link, share]`;
    /// null without a route. It answers behind the end, too.
    #[wasm_bindgen(unchecked_return_type = "(PairRoutes | null)[]")]
    pub fn routes(&self, pairs: &[u32]) -> Result<JsValue, JsValue> {
        let nodes = self.0.nodes();
        if let Some(node) = pairs.iter().find(|&&node| node as usize >= nodes) {
            return Err(JsError::new(&format!("{node} is no number of a node; there are {nodes}")).into());
        }
        let pairs = pairs.chunks_exact(2).map(|pair| (NodeId(pair[0]), NodeId(pair[1])));
        plain_value(&pairs.map(|(from, to)| self.0.routes().of_pair(from, to)).collect::<Vec<_>>())
    }

    /// Whether some traffic has routes of its own.
    #[wasm_bindgen(getter, js_name = hasOwnRoutes)]
    #[must_use]
    pub fn has_own_routes(&self) -> bool {
        self.0.routes().has_others()
    }

    fn step(&mut self, step: Result<Step, RunError>, watch: Option<&Function>) -> Result<JsValue, JsValue> {
        let mut thrown = None;
        let look = |progress: RunProgress| {
            let Some(watch) = watch else { return ControlFlow::Continue(()) };
            match watch.call1(&JsValue::NULL, &progress_object(&progress)) {
                Ok(answer) if answer == JsValue::TRUE => ControlFlow::Break(()),
                Ok(_) => ControlFlow::Continue(()),
                Err(error) => {
                    thrown = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let progress = step.and_then(|step| self.0.advance(step, look)).map_err(error)?;
        thrown.map_or_else(|| Ok(progress_object(&progress)), Err)
    }
}

/// Data as plain objects, by their JSON.
fn plain_value(data: &impl serde::Serialize) -> Result<JsValue, JsValue> {
    let text = serde_json::to_string(data).map_err(|error| JsError::new(&error.to_string()))?;
    js_sys::JSON::parse(&text)
}

/// The plain data in a TOML text, such as `{network: {...}}`; `undefined` where it is no TOML.
#[wasm_bindgen(js_name = tomlData, unchecked_return_type = "Record<string, unknown> | undefined")]
pub fn toml_data(toml: &str) -> Result<JsValue, JsValue> {
    text::data(toml).map_or(Ok(JsValue::UNDEFINED), |data| plain_value(&data))
}

/// The nodes of the text of a path, as the table of subflows has it: names, and which of parallel links leads there, from 1
/// on. Throws where it is none.
#[wasm_bindgen(js_name = pathNodes, unchecked_return_type = "[string, number][]")]
pub fn path_nodes(path: &str) -> Result<JsValue, JsValue> {
    let nodes = read_path(path).map_err(|error| JsError::new(&error.to_string()))?;
    plain_value(&nodes.into_iter().map(|node| (node.name.into_owned(), node.link)).collect::<Vec<_>>())
}

/// A TOML text with changes in place; everything else stays as it stands, comments too. `changes` is JSON: a list of
/// `{place, set}`, `{place, append}` and `{place, remove: true}`, with values written as TOML. Throws what is wrong.
#[wasm_bindgen(js_name = editedToml)]
pub fn edited_toml(toml: &str, changes: &str) -> Result<String, JsError> {
    text::changed(toml, changes).map_err(|message| JsError::new(&message))
}

fn error(error: RunError) -> JsError {
    JsError::new(&error.to_string())
}
