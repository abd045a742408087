// What Grafana's own types say of a dashboard such as ours. The dashboard follows as a
// literal of the type Board, so that the compiler refuses what there is not.
import type { AnnotationQuery, Dashboard, DataQuery, FieldConfigSource, Panel, RowPanel } from '@grafana/schema';
import type * as BarGauge from '@grafana/schema/dist/esm/raw/composable/bargauge/panelcfg/x/BarGaugePanelCfg_types.gen';
import type * as Stat from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type * as Table from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type * as TimeSeries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

// Plain has the values of enumerations in their places, as JSON does.
type Plain<T> = T extends string ? `${T}` : T extends (infer U)[] ? Plain<U>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

// Query is what Grafana's data source for Prometheus takes, which the package does not
// describe: expr, legendFormat, format, instant and range are its words.
type Query = DataQuery & {
  expr: string;
  legendFormat?: string;
  format?: 'time_series' | 'table' | 'heatmap';
  instant?: boolean;
  range?: boolean;
  editorMode?: 'code' | 'builder';
};

type Of<Type extends string, Options, Field = {}> = Omit<Panel, 'type' | 'options' | 'targets' | 'fieldConfig'> & {
  type: Type;
  options: Plain<Options>;
  targets: Query[];
  fieldConfig: Omit<FieldConfigSource, 'defaults'> & { defaults: Omit<FieldConfigSource['defaults'], 'custom' | 'color' | 'mappings'> & {
    custom?: Plain<Field>;
    mappings?: Plain<FieldConfigSource['defaults']['mappings']>;
    color?: Plain<FieldConfigSource['defaults']['color']>;
  } };
};

type Board = Omit<Dashboard, 'panels' | 'annotations'> & {
  panels: (
    | RowPanel
    | Of<'bargauge', BarGauge.Options>
    | Of<'stat', Stat.Options>
    | Of<'table', Table.Options, Plain<Table.FieldConfig>>
    | Of<'timeseries', TimeSeries.Options, TimeSeries.FieldConfig>
  )[];
  // The last two are the Prometheus data source's own.
  annotations: { list: (AnnotationQuery<Query> & { titleFormat?: string; useValueForTime?: 'on' })[] };
};
