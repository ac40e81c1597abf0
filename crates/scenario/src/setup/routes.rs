//! Routes: those of all traffic, and those of entries that have some of their own.

use super::own::{OwnCode, OwnKind};
use crate::algorithm::{Chosen, Configuration};
use crate::controller::Controller;
use crate::problem::{Place, Problems};
use crate::routing::{RouteChoice, Routing, chosen_scheme, lacks_bounds};
use anabranch_engine::routing::{ChosenScheme, Scheme};
use anabranch_units::declaration::Plain;
use serde_json::{Value, json};

/// Who makes the plan of a choice of routes.
#[derive(Clone, PartialEq, Debug)]
pub enum Planned {
    /// The core, by a scheme.
    Core(Scheme),
    /// A planner, by a scheme with all its parameters in base units.
    Planner(Configuration),
    /// A class of the user's own, as who has brought it knows it.
    Own(Value),
}

impl Planned {
    /// Who makes the plan of a choice that stands at a place; what is wrong with a class of the user's own is noted.
    pub(super) fn of(
        choice: &RouteChoice,
        at: &Place<'_>,
        own_code: &mut dyn OwnCode,
        problems: &mut Problems,
    ) -> Self {
        let configuration = match choice.configuration() {
            Ok(configuration) => configuration,
            Err(chosen) => {
                let scheme = own_code.algorithm(OwnKind::RoutingScheme, chosen, &[]);
                return Self::Own(scheme.unwrap_or_else(|message| {
                    problems.add(&at.key("scheme"), message);
                    Value::Null
                }));
            }
        };
        let chosen = chosen_scheme(&configuration).expect("a scheme is checked when it is read");
        let planner = choice.scheme.declaration().map(|scheme| &scheme.properties);
        let with = planner.and_then(|properties| match properties.get("planner_with")? {
            Plain::Text(parameter) => Some(parameter.as_str()),
            _ => None,
        });
        match (chosen, json!(configuration)) {
            (ChosenScheme::Core(scheme), _) => Self::Core(scheme),
            // Without the parameter with which the planner plans, the core does.
            (ChosenScheme::Planned(_), given) if with.is_some_and(|with| given.get(with).is_none()) => {
                Self::Core(serde_json::from_value(given).expect("the core has this scheme, too"))
            }
            (ChosenScheme::Planned(scheme), _) => match json!(scheme) {
                Value::Object(all) => Self::Planner(all),
                _ => Self::Planner(configuration),
            },
        }
    }

    /// The scheme of the core, if it makes the plan.
    #[must_use]
    pub const fn core(&self) -> Option<&Scheme> {
        match self {
            Self::Core(scheme) => Some(scheme),
            Self::Planner(_) | Self::Own(_) => None,
        }
    }
}

/// Routes of traffic entries that are not those of `[routing]`.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnRoutes {
    /// Where the scenario has them first, such as `traffic[1].routing`.
    pub place: String,
    /// Names of the entries that go by them.
    pub traffic: Vec<String>,
    /// The choice.
    pub choice: RouteChoice,
    /// Who makes the plan.
    pub planned: Planned,
}

/// The different routes of a scenario's traffic, each once, in the order of the entries.
pub(super) struct TrafficRoutes<'t> {
    common: Option<&'t Routing>,
    controller: Option<&'t Controller>,
    pub routes: Vec<OwnRoutes>,
}

impl<'t> TrafficRoutes<'t> {
    pub(super) const fn new(common: Option<&'t Routing>, controller: Option<&'t Controller>) -> Self {
        Self { common, controller, routes: Vec::new() }
    }

    /// The place of the routes of an entry: 0 for those of `[routing]`, n for number n - 1 of the others. What is wrong is
    /// noted.
    pub(super) fn place(
        &mut self,
        choice: &RouteChoice,
        name: &str,
        at: &Place<'_>,
        own_code: &mut dyn OwnCode,
        problems: &mut Problems,
    ) -> usize {
        let at = at.key("routing");
        if let Some(controller) = self.controller {
            check_with_controller(controller, choice, &at, problems);
        } else if self
            .common
            .map_or_else(RouteChoice::usual, |common| common.choice.clone())
            .is_same_as(choice)
        {
            return 0;
        } else if let Some(scheme) =
            choice.for_bounds().filter(|_| self.common.is_none_or(|of| of.demand.is_none()))
        {
            problems.add_at("routing.demand", format!("{}, and {at} has it", lacks_bounds(scheme)));
        }
        if let Some(place) = self.routes.iter().position(|routes| routes.choice.is_same_as(choice)) {
            self.routes[place].traffic.push(name.to_owned());
            return place + 1;
        }
        self.routes.push(OwnRoutes {
            place: at.to_string(),
            traffic: vec![name.to_owned()],
            choice: choice.clone(),
            planned: Planned::of(choice, &at, own_code, problems),
        });
        self.routes.len()
    }
}

fn check_with_controller(
    controller: &Controller,
    choice: &RouteChoice,
    at: &Place<'_>,
    problems: &mut Problems,
) {
    if choice.scheme.0.name() != Some("shortest") {
        let message = "the controller gives each flow one path; leave this out, and give the metric alone";
        problems.add(&at.key("scheme"), message);
    } else if matches!(controller.application.0, Chosen::Own(_)) {
        let message = "the class of controller.application chooses the paths, so leave this out";
        problems.add(&at.key("metric"), message);
    }
    if choice.max_delay.is_some() || choice.max_loss.is_some() {
        let limit = if choice.max_delay.is_none() { "max_loss" } else { "max_delay" };
        problems.add(&at.key(limit), "the controller knows no limits of a path; leave this out");
    }
}
