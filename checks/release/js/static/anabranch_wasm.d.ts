// What `make wasm` writes, as far as the worker takes it.
export default function start(): Promise<unknown>;
export class Scenario { constructor(text: string); [name: string]: any; static ofNetwork(text: string): Scenario }
export function tomlData(toml: string): any;
export function editedToml(toml: string, changes: string): string;
export function pathNodes(path: string): [string, number][];
