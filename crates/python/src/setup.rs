//! A setup, read once: everything that is asked of it is a method.

use crate::error::{engine_error, parse, setup_error, value_error};
use crate::own;
use crate::paths::{self, Astray};
use crate::plan::Plan;
use crate::run;
use crate::simulation::Simulation;
use crate::watch::Watch;
use anabranch_engine as engine;
use anabranch_engine::network::Network;
use anabranch_engine::routing::{Fallback, LinkMask, Metric, Search};
use anabranch_engine::setup;
use anabranch_units::LinkId;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A setup that holds.
///
/// Long calls release the interpreter lock, and end with KeyboardInterrupt after Ctrl-C. Where they take
/// `progress`, it is called now and then with (pairs answered, all pairs); what it raises ends the call.
///
/// Raises SetupError if the text is no setup, or the setup does not hold.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Setup {
    setup: Arc<setup::Setup>,
    network: Network,
    /// The links that carry data.
    mask: LinkMask,
    /// Runs call code of the user's.
    calls_python: bool,
}

impl Setup {
    /// A setup with code of the user's own, by its places: what makes congestion controls, schedulers, load balancing and
    /// applications of controllers. Those of the setup name it by these places.
    ///
    /// # Errors
    /// SetupError if the setup does not hold.
    pub(crate) fn checked(py: Python<'_>, mut setup: setup::Setup, makers: Vec<Py<PyAny>>) -> PyResult<Self> {
        py.detach(|| {
            let calls_python = own::bind(&mut setup, makers);
            let network = setup.check().map_err(engine_error)?;
            let mask = setup.data_mask(&network);
            Ok(Self { setup: Arc::new(setup), network, mask, calls_python })
        })
    }

    /// The network.
    pub(crate) const fn network(&self) -> &Network {
        &self.network
    }

    /// Whether it calls code of the user's.
    pub(crate) const fn calls_python(&self) -> bool {
        self.calls_python
    }

    /// The links that carry data, but for those that are down.
    ///
    /// # Errors
    /// SetupError if there is no such link.
    pub(crate) fn mask_without(&self, down: &[u32]) -> PyResult<LinkMask> {
        let mut mask = self.mask.clone();
        let links = self.network.links().len();
        for &link in down {
            if link as usize >= links {
                return Err(setup_error("down", format!("no link number {link}; there are {links}")));
            }
            mask.set_link(LinkId(link), false);
        }
        Ok(mask)
    }

    pub(crate) fn shared(&self) -> Arc<setup::Setup> {
        Arc::clone(&self.setup)
    }
}

#[pymethods]
impl Setup {
    /// `own` is what makes algorithms of the user's own, which the text names by their places.
    #[new]
    #[pyo3(signature = (setup_json, makers=Vec::new()))]
    fn new(py: Python<'_>, setup_json: &str, makers: Vec<Py<PyAny>>) -> PyResult<Self> {
        Self::checked(py, parse("setup", setup_json)?, makers)
    }

    /// The setup as JSON, every default filled in.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&*self.setup).map_err(value_error)
    }

    /// The routes that a scheme computes for every pair of the flows that go by it, both ways: `routing` is 0 for
    /// that of most flows, and n for the one that is number n - 1 of the others.
    ///
    /// Links of `down` carry nothing; the others keep their numbers.
    ///
    /// Raises SetupError if there is no such scheme, or no such link.
    #[pyo3(signature = (progress=None, routing=0, down=Vec::new()))]
    fn plan(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        routing: usize,
        down: Vec<u32>,
    ) -> PyResult<Plan> {
        let mask = self.mask_without(&down)?;
        let Some(scheme) = self.setup.routing.schemes().nth(routing).flatten() else {
            return Err(setup_error("routing.scheme", "there is none to compute routes with"));
        };
        let pairs = self.setup.pairs_of(routing);
        let mut watch = Watch::new(progress);
        let look = &mut |done: usize| watch.look((done, pairs.len()));
        let plan = py.detach(|| scheme.plan_watched(&self.network, &mask, &pairs, look))?;
        Ok(Plan { plan: Arc::new(plan) })
    }

    /// The pairs that need routes by a scheme, as in `plan`, and have none in a plan: (from, to) in numbers of nodes.
    #[pyo3(signature = (plan, routing=0))]
    fn without_route(&self, plan: &Plan, routing: usize) -> Vec<(u32, u32)> {
        let pairs = self.setup.pairs_of(routing).into_iter();
        let without = pairs.filter(|&(from, to)| plan.plan.route(from, to).is_none());
        without.map(|(from, to)| (from.0, to.0)).collect()
    }

    /// The k best loop-free paths of pairs by a metric, over the links that carry data; best first.
    ///
    /// `search` is "exact", or for the metric "tcpbp" also "published", the modified Dijkstra of Vilela 2022.
    /// `pairs` are (from, to) in numbers of nodes; None: all pairs of different nodes. The answer is a list of
    /// (from, to, paths) in the order of the pairs, each path the tuple of its links' numbers; a pair that is
    /// not connected has no paths. Paths of more delay than `max_delay` (ps, one way) or more loss than `max_loss`
    /// are left out.
    ///
    /// Raises SetupError if a pair does not hold, ValueError for a metric or search that is not known or do not
    /// go together, a k of 0, a loss that is none, or limits of the published search, which knows none.
    #[pyo3(signature = (k, metric, pairs=None, search="exact", progress=None, max_delay=None, max_loss=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn candidate_paths<'py>(
        &self,
        py: Python<'py>,
        k: usize,
        metric: &str,
        pairs: Option<Vec<(u32, u32)>>,
        search: &str,
        progress: Option<Py<PyAny>>,
        max_delay: Option<u64>,
        max_loss: Option<f64>,
    ) -> PyResult<Bound<'py, PyList>> {
        let scheme = paths::scheme_of(k, metric, search, (max_delay, max_loss))?;
        let pairs = paths::pairs_of(&self.network, pairs)?;
        let mut watch = Watch::new(progress);
        let look = &mut |done: usize| watch.look((done, pairs.len()));
        let plan = py.detach(|| scheme.plan_watched(&self.network, &self.mask, &pairs, look))?;
        let answers = pairs.iter().map(|&(from, to)| {
            let paths = plan.route(from, to).map_or(&[][..], |route| &route.paths);
            (from, to, paths.iter().map(|path| &path.links))
        });
        paths::answer(py, &self.network, answers)
    }

    /// The paths of pairs that no other path beats in delay, loss and bottleneck capacity at once, over the
    /// links that carry data; least delay first, then least loss. Of paths that are equal in all three one is
    /// there.
    ///
    /// `pairs` and the answer are those of `candidate_paths`.
    ///
    /// Raises SetupError if a pair does not hold, ValueError if a pair has more than `limit` paths of this kind,
    /// or so many on the way that the search gives up.
    #[pyo3(signature = (pairs=None, limit=1000, progress=None))]
    fn pareto_paths<'py>(
        &self,
        py: Python<'py>,
        pairs: Option<Vec<(u32, u32)>>,
        limit: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let pairs = paths::pairs_of(&self.network, pairs)?;
        let watch = Watch::new(progress);
        let answers = py.detach(|| paths::pareto(&self.network, &self.mask, limit, &pairs, watch))?;
        let answers = pairs.iter().zip(&answers).map(|(&(from, to), paths)| (from, to, paths.iter()));
        paths::answer(py, &self.network, answers)
    }

    /// The pairs whose packets do not take the path that their source chose, where every node forwards by its
    /// own best path to their destination, over the links that carry data.
    ///
    /// `search` is "exact" or "published", the modified Dijkstra of Vilela 2022. The answer is a list of (from,
    /// to, wanted, walked, loop): the links that the source chose, those that a packet crosses until it arrives
    /// or comes back to a node, and the nodes among which it then goes round, None if it arrives.
    ///
    /// Raises ValueError for a metric or search that is not known.
    #[pyo3(signature = (metric, search="exact", progress=None))]
    fn check_hop_by_hop(
        &self,
        py: Python<'_>,
        metric: &str,
        search: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Vec<Astray>> {
        let metric = paths::by_name("metric", metric, &Metric::NAMES)?;
        let search = paths::by_name("search", search, &Search::NAMES)?;
        let watch = Watch::new(progress);
        py.detach(|| paths::astray(&self.network, &self.mask, (metric, search), watch))
    }

    /// What decides in place of a metric, "delay" or "hops", where the metric says nothing because no link that
    /// carries data loses packets, or none of those `links`; None where it tells paths apart.
    ///
    /// Raises ValueError for a metric that is not known.
    #[pyo3(signature = (metric, links=None))]
    fn metric_fallback(&self, metric: &str, links: Option<Vec<u32>>) -> PyResult<Option<&'static str>> {
        let metric = paths::by_name("metric", metric, &Metric::NAMES)?;
        let mut mask = self.mask.clone();
        if let Some(links) = links {
            let links: BTreeSet<u32> = links.into_iter().collect();
            let others = self.network.link_ids().filter(|link| !links.contains(&link.0));
            others.for_each(|link| mask.set_link(link, false));
        }
        Ok(metric.fallback(&self.network, &mask).map(|fallback| match fallback {
            Fallback::Delay => "delay",
            Fallback::Hops => "hops",
        }))
    }

    /// Runs it over a plan, on as many `cores` at most: one, or several where it can be divided.
    ///
    /// `progress(simulated_s, packet_hops)` is called now and then, if given. Ctrl-C ends the run early; what
    /// was measured until then is returned all the same, with `interrupted` true. `before_tables()` is called, if given, where
    /// a run on several cores has ended and its parts are gone.
    ///
    /// Returns a dict with `tables` (name -> column name -> numpy array, list of str for names, or, where names are
    /// few, the names and a numpy array with the place of each row's name among them),
    /// `summary` (ended_s, interrupted, packet_hops, events, jain_index,
    /// delivered_mbps, packets_lost) and `lost_captures`, those that could not be written to their end: file, when (s), why;
    /// `cores`, how many it had, and `one_core`, why it was not divided though more were asked for, None otherwise.
    ///
    /// Raises SetupError if the plan does not hold, OSError if a capture cannot be begun, OwnCodeError if code of the
    /// user's fails.
    #[pyo3(signature = (plan, progress=None, cores=1, before_tables=None))]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        plan: &Plan,
        progress: Option<Py<PyAny>>,
        cores: u32,
        before_tables: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let work = (Arc::clone(&self.setup), Arc::clone(&plan.plan));
        run::simulate(py, work, self.calls_python, (cores, before_tables), Watch::new(progress))
    }

    /// What a run over a plan would take on `cores` cores, from one thread that works for all of them in turn
    /// (docs/parallel.md). `clock()` gives the seconds that the thread has had.
    ///
    /// Returns a dict with `cores`, how many there would be, `lookahead_s`, `longest_s`, the longest chain of strides that
    /// wait for each other, `largest_s`, all strides of the core with most, `work_s`, those of all, `strides`, how many, and
    /// `packet_hops`; or with `one_core`, why the run cannot be divided. With one core, `longest_s` is what it takes.
    ///
    /// Raises SetupError if the plan does not hold, or what `clock` raises.
    fn critical_path<'py>(
        &self,
        py: Python<'py>,
        plan: &Plan,
        cores: u32,
        clock: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        run::critical_path(py, (&self.setup, &plan.plan), cores, &clock)
    }

    /// A run over a plan, ready for its first step.
    ///
    /// Raises SetupError if the plan does not hold, OSError if a capture cannot be written.
    fn start(&self, py: Python<'_>, plan: &Plan) -> PyResult<Simulation> {
        let (setup, plan) = (Arc::clone(&self.setup), Arc::clone(&plan.plan));
        let simulation =
            own::run(py, self.calls_python, || engine::Simulation::new(setup, plan).map_err(engine_error))?;
        Ok(Simulation::new(simulation, self.calls_python))
    }
}
