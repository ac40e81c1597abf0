//! The types of answers, for editors and TypeScript.

use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
/** A mistake of a scenario. */
export interface Problem {
    /** A path of keys, such as `traffic[0].from`; empty for the whole, and for mistakes of the syntax. */
    place: string;
    /** What is wrong, and what would be right. */
    message: string;
    /** Line and column in the text, in characters from 1 on; undefined where it is about the whole. */
    line?: number;
    column?: number;
}

/** What `Scenario.start` throws. */
export interface ScenarioError extends Error {
    name: "ScenarioError";
    /** Everything that is wrong. `message` has it as text, a line each. */
    problems: Problem[];
}

/** How far a run has come. */
export interface Progress {
    /** Simulated time, and the end of the run, in picoseconds. */
    now_ps: bigint;
    end_ps: bigint;
    /** The part of the duration that is simulated, from 0 to 1. */
    share: number;
    packet_hops: bigint;
    events: bigint;
    /** Whether nothing is left to do. */
    done: boolean;
}

/** Called during a step; `true` ends the step. It must not call the simulation. */
export type Watch = (progress: Progress) => boolean | void;

/** A name for each row, of which there are few: `names[places[row]]`; an empty one where there is none. */
export interface Choices {
    names: string[];
    places: Uint8Array;
}

/** Counts and ids; measurements, NaN where there is none; names; names of which there are few. */
export type Column = BigUint64Array | Float64Array | string[] | Choices;

/** Columns by name, all of the same length, in their order. */
export type Table = Record<string, Column>;

/** What was measured. */
export interface Result {
    summary: {
        /** Where it ended, in simulated seconds. */
        ended_s: number;
        /** Whether it was finished before its end. */
        interrupted: boolean;
        packet_hops: bigint;
        events: bigint;
        /** Jain's fairness index of the goodputs of all flows that opened; null without such a flow. */
        jain_index: number | null;
        /** Payload handed to all applications, over the time of the run; null if no time has passed. */
        delivered_mbps: number | null;
        packets_lost: bigint;
        /** What must be known to read the tables, a sentence each. */
        warnings: string[];
        /** By entry of the traffic: flows that are not made, since they would begin when the run is over. */
        never_begun: Record<string, bigint>;
    };
    /** Tables by name, such as `flows` and `link_series`. */
    tables: Record<string, Table>;
}

/** A network to draw. */
export interface DrawnNetwork {
    /** Names, and degrees north and east. */
    nodes: [string, [number, number] | null][];
    /** Name, numbers of the nodes, bit/s, picoseconds. */
    links: [string, number, number, number, number][];
}

/** The routes of a pair. */
export interface PairRoutes {
    count: number;
    /** Share of the packets, numbers of links, text. */
    paths: [number, number[], string][];
    /** Number of a link, share of the packets. */
    shares: [number, number][];
}
"#;
