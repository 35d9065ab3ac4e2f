/** Reads a Containerfile. Pure. */

export type Step = readonly [instruction: string, rest: string];

/** The instructions of a Containerfile, with the defaults of its arguments filled in. */
export function stepsOf(text: string): Step[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const steps = lines.map((line): Step => {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    return [instruction, rest];
  });
  const defaults = new Map(
    steps.filter(([name]) => name === 'ARG').map(([, rest]) => rest.split('=') as [string, string]),
  );
  const filled = (rest: string) => rest.replace(/\$\{(\w+)\}/g, (whole, name: string) => defaults.get(name) ?? whole);
  return steps.map(([name, rest]): Step => [name, name === 'FROM' ? filled(rest) : rest]);
}
