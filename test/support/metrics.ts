/** Reads a scrape: the samples by name and labels, and what is wrong with the form of it. */
import { type Call, call } from './http.ts';

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export class Scrape {
  readonly text: string;
  readonly samples: readonly Sample[];
  readonly types: ReadonlyMap<string, string>;

  constructor(text: string) {
    this.text = text;
    const lines = text.split('\n');
    this.types = new Map(
      lines.flatMap((line) => {
        const match = /^# TYPE (\S+) (\S+)$/.exec(line);
        return match === null ? [] : [[match[1] as string, match[2] as string]];
      }),
    );
    this.samples = lines.filter((line) => line !== '' && !line.startsWith('#')).map(readSample);
  }

  /** The sum of the samples of a name that carry at least these labels. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    return this.select(name, labels).reduce((total, { value }) => total + value, 0);
  }

  select(name: string, labels: Readonly<Record<string, string>> = {}): Sample[] {
    return this.samples.filter(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  }

  /** The family that a sample belongs to. */
  familyOf(name: string): string {
    const base = name.replace(/_(bucket|sum|count)$/, '');
    return this.types.get(base) === 'histogram' || this.types.get(base) === 'summary' ? base : name;
  }
}

function readSample(line: string): Sample {
  const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (match === null) throw new Error(`no sample: ${line}`);
  const labels = Object.fromEntries(
    [...(match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)",?/g)].map(([, name, value]) => [name, value]),
  ) as Record<string, string>;
  const value = match[3] === '+Inf' ? Number.POSITIVE_INFINITY : Number(match[3]);
  return { name: match[1] as string, labels, value };
}

/** Reads /metrics at an address. */
export async function scrape(url: string, headers: Call['headers'] = {}): Promise<Scrape> {
  const answer = await call({ url }, '/metrics', { headers });
  if (answer.status !== 200) throw new Error(`a scrape was answered ${answer.status}: ${answer.text}`);
  return new Scrape(answer.text);
}
