// What the scripts of the pages of results give to the studio as `page.js` (python/anabranch/studio/pages.py).
type Any = any;
export const MAP_WIDTH: number;
export const timeMarks: Any;
export const themeListeners: (() => void)[];
export function byId(id: string): Any;
export function h(tag: string, attributes?: Record<string, Any>, ...children: Any[]): HTMLElement;
export function decode(column: Any): Any;
export function number(value: number): string;
export function measure(value: number, unit: string): string;
export function withUnit(value: number, unit: string): string;
export function setData(data: Any): void;
export function dropPicture(): void;
export function keepListeners(): void;
export function setUpTheme(): void;
export function setUpPrinting(): void;
export function setUpCharts(): void;
export function setTimeUnit(): void;
export function setUpDistributions(): void;
export function flowTable(series: Any): Any;
export function collectiveTables(): void;
export function shortTables(): void;
export function shownTable(id: string, table: Any, given?: Any): Any;
export function columnsOf(table: Any): Map<string, Any>;
export function numbersOf(table: Any, key: string): Any;
export function textsOf(table: Any, key: string): (row: number) => string;
export function linkColors(): Any;
export function ramp(stops: Any, share: number): string;
export function mapOf(...given: Any[]): Any;
export class NetworkSection { constructor(...given: Any[]); [name: string]: Any }
export class SeriesSection { constructor(...given: Any[]); [name: string]: Any }
export class RouteChooser { constructor(...given: Any[]); [name: string]: Any }
export class LatencySection { constructor(...given: Any[]); [name: string]: Any }
export class MultipathSection { constructor(...given: Any[]) }
export function dataTable(...given: Any[]): Any
