//! A scenario as the engine runs it, part by part, and the setups that are made of it.

use crate::error::{parse, value_error};
use crate::flows::{self, FlowArrays};
use crate::network::Network;
use crate::scenario::{Told, plain, told};
use crate::setup::Setup;
use anabranch_engine::network::Node;
use anabranch_engine::setup::Setup as EngineSetup;
use anabranch_engine::setup::{
    CaptureSetup, CollectiveSetup, ControllerSetup, DatagramSetup, EventSetup, HostSetup, LinkKinds,
    LinkSetup, ProbeSetup, RouterSetup, RoutingSetup, RunEnd, TransportSetup, WaitSetup,
};
use anabranch_scenario::event::Event;
use anabranch_scenario::problem::{Place, Problems};
use anabranch_scenario::read::Read;
use anabranch_scenario::setup::{self, DemandSetup, EntrySetup, Outages, OwnRoutes, Planned, changes_of};
use anabranch_units::{Shared, Span};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// Routes of traffic of their own: place, names of the entries, scheme, metric, planner as of `Resolved.planner`.
type Routes = (String, Vec<String>, Option<String>, &'static str, Option<String>);

/// A scenario as the engine runs it.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Resolved {
    /// Everything but links and flows.
    setup: EngineSetup,
    entries: Vec<EntrySetup>,
    columns: Py<PyDict>,
    planned: Planned,
    own_routes: Vec<OwnRoutes>,
    demand: Option<DemandSetup>,
    /// By entry: the flows that are not made, since they would begin when the run is over.
    #[pyo3(get)]
    never_begun: BTreeMap<String, u64>,
    outages: Outages,
}

impl Resolved {
    pub(crate) fn new(py: Python<'_>, resolved: setup::Resolved) -> PyResult<Self> {
        let setup::Resolved { setup, flows, planned, own_routes, demand, never_begun, outages } = resolved;
        let (entries, columns) = flows::into_python(py, flows)?;
        Ok(Self { setup, entries, columns, planned, own_routes, demand, never_begun, outages })
    }

    /// The setup with the links of its network, with other parts, and with other flows if there are some.
    fn changed(
        &self,
        py: Python<'_>,
        network: &Network,
        changes_json: Option<&str>,
        columns: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<EngineSetup> {
        let flows = match columns {
            Some(columns) => flows::from_python(columns)?,
            None => {
                let arrays: FlowArrays<'_> = self.columns.bind(py).extract()?;
                flows::single(arrays.slices(&self.entries)?)?
            }
        };
        let changes: Changes =
            changes_json.map_or_else(|| Ok(Changes::default()), |json| parse("setup", json))?;
        let mut setup = EngineSetup { flows, ..self.setup.clone() };
        let has_links = changes.links.is_some();
        changes.put_into(&mut setup);
        if has_links {
            let mut kinds = LinkKinds::default();
            setup.links.iter_mut().for_each(|link| kinds.share(link));
        } else {
            setup.links.clone_from(&network.0.links);
        }
        Ok(setup)
    }
}

#[pymethods]
impl Resolved {
    /// The setup, read and checked. `network` is that of the scenario; `changes_json` are parts that replace those of the
    /// scenario, under their names; `flows` are columns that replace its own, as `flows` gives them, with `entries` as
    /// JSON; `own` is the code of the user's own, by its places.
    ///
    /// Raises SetupError if the setup does not hold.
    #[pyo3(signature = (network, changes_json=None, flows=None, makers=Vec::new()))]
    fn setup(
        &self,
        py: Python<'_>,
        network: &Network,
        changes_json: Option<&str>,
        flows: Option<&Bound<'_, PyDict>>,
        makers: Vec<Py<PyAny>>,
    ) -> PyResult<Setup> {
        Setup::checked(py, self.changed(py, network, changes_json, flows)?, makers)
    }

    /// The setup as JSON, unchecked, with changes as by `setup`.
    #[pyo3(signature = (network, changes_json=None, flows=None))]
    fn json(
        &self,
        py: Python<'_>,
        network: &Network,
        changes_json: Option<&str>,
        flows: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        json(&self.changed(py, network, changes_json, flows)?)
    }

    /// A part of the setup under its name, as JSON; nodes and links are the network's.
    ///
    /// Raises ValueError if there is none of this name.
    fn part(&self, name: &str) -> PyResult<String> {
        part(&self.setup, name)
    }

    /// What the flows of an entry have in common, as JSON: a list.
    fn entries(&self) -> PyResult<String> {
        json(&self.entries)
    }

    /// The flows as numpy arrays by name, which are not to be changed: `entry`, place of the entry, `number`, `from`, `to`
    /// (u32), `bytes`, `start` and `stop` (u64; 2^64 - 1 for never).
    fn flows(&self, py: Python<'_>) -> Py<PyDict> {
        self.columns.clone_ref(py)
    }

    /// The scheme of the planner that makes the plan of most flows, as JSON with all parameters; None where the core does.
    fn planner(&self) -> PyResult<Option<String>> {
        planner(&self.planned)
    }

    /// The routes of entries that have some of their own.
    fn own_routes(&self) -> PyResult<Vec<Routes>> {
        let routes = |routes: &OwnRoutes| {
            let scheme = routes.choice.scheme.0.name().map(str::to_owned);
            let metric = routes.choice.metric().name();
            let planner = planner(&routes.planned)?;
            Ok((routes.place.clone(), routes.traffic.clone(), scheme, metric, planner))
        };
        self.own_routes.iter().map(routes).collect()
    }

    /// Bounds of the traffic as JSON, if there are some.
    fn demand(&self) -> PyResult<Option<String>> {
        self.demand.as_ref().map(json).transpose()
    }

    /// What is out of service, and what may be, as JSON.
    fn outages(&self) -> PyResult<String> {
        json(&self.outages)
    }

    /// What changes with an event, as a scenario has it, at a place, while a run of this setup over its network stands
    /// still: a list of JSON; and what is wrong with it.
    fn changes_of(
        &self,
        py: Python<'_>,
        network: &Network,
        event: &Bound<'_, PyAny>,
        place: &str,
    ) -> PyResult<(Vec<String>, Vec<Told>)> {
        let mut problems = Problems::default();
        let at = Place::Told(place);
        let mut changes = Vec::new();
        if let Some(event) = Event::read(&plain(event)?, &at, &mut problems) {
            let arrays: FlowArrays<'_> = self.columns.bind(py).extract()?;
            let ends = (arrays.slices(&self.entries)?, &self.setup.transports[..]);
            let changed = changes_of(&event, &at, &network.0, ends, &mut problems);
            changes = changed.iter().map(json).collect::<PyResult<_>>()?;
        }
        Ok((changes, told(problems.into_told())))
    }
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(value_error)
}

fn planner(planned: &Planned) -> PyResult<Option<String>> {
    match planned {
        Planned::Core(_) => Ok(None),
        Planned::Planner(scheme) => json(scheme).map(Some),
        Planned::Own(scheme) => json(scheme).map(Some),
    }
}

/// Declares the parts of a setup that Python asks for, and may replace.
macro_rules! parts {
    ($($part:ident: $kind:ty),+ $(,)?) => {
        /// Parts of a setup that replace those of another.
        #[derive(Deserialize, Default)]
        #[serde(deny_unknown_fields, default)]
        struct Changes {
            $( #[serde(deserialize_with = "given")] $part: Option<$kind>, )+
        }

        impl Changes {
            fn put_into(self, setup: &mut EngineSetup) {
                $( if let Some(part) = self.$part { setup.$part = part; } )+
            }
        }

        fn part(setup: &EngineSetup, name: &str) -> PyResult<String> {
            match name {
                $( stringify!($part) => json(&setup.$part), )+
                _ => Err(value_error(format!("a setup has no part {name:?}"))),
            }
        }
    };
}

parts! {
    seed: u64,
    replication: u64,
    duration: Span,
    until: RunEnd,
    nodes: Shared<Vec<Node>>,
    links: Vec<LinkSetup>,
    hosts: Vec<HostSetup>,
    routers: Vec<RouterSetup>,
    transports: Vec<TransportSetup>,
    datagrams: Vec<DatagramSetup>,
    events: Vec<EventSetup>,
    routing: RoutingSetup,
    probes: ProbeSetup,
    captures: Vec<CaptureSetup>,
    controller: Option<ControllerSetup>,
    waits: Vec<WaitSetup>,
    collectives: Vec<CollectiveSetup>,
}

/// A part that is there, also where it says that there is nothing.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
