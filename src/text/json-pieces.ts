/**
 * Cuts a JSON text into pieces that are quick to parse, and assembles what was parsed. A thread can check and cut a
 * large body, but its parsed form cannot be handed over cheaply: structured clone takes up to six times as long as
 * parsing. So another thread cuts, and the main thread parses one piece at a time. Pure.
 */

/** Part of a text, in bytes. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** Members of a container in a row, or one member that is itself cut. `key`: of a member of an object, as written. */
type Segment = Range | { readonly key: Range | undefined; readonly cut: Cut };

/** A container with more values or bytes than one piece. */
export interface Cut {
  readonly isObject: boolean;
  /** Number of values in it. */
  readonly values: number;
  readonly segments: readonly Segment[];
}

export interface PieceSize {
  readonly values: number;
  readonly bytes: number;
}

/** A container that is being read. */
interface Frame {
  readonly isObject: boolean;
  readonly segments: Segment[];
  readonly openAt: number;
  /** Values of the finished members of this run, and of the member that is being read. */
  runFrom: number;
  runValues: number;
  memberFrom: number;
  memberValues: number;
  colonAt: number;
  child: Cut | undefined;
  values: number;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Cuts a valid JSON text. Returns undefined when all of it is one piece. */
export function cutJson(bytes: Uint8Array, size: PieceSize): Cut | undefined {
  const frames: Frame[] = [];
  let whole: Cut | undefined;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    const frame = frames.at(-1);
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) frames.push(frameAt(at, byte === OPEN_OBJECT));
    else if (frame === undefined) continue;
    else if (byte === COLON) frame.colonAt = at;
    else if (byte === COMMA) {
      endMember(frame, at);
      if (isPiece(frame, at, size)) endRun(frame, at);
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      frames.pop();
      const cut = endContainer(frame, at, size);
      const parent = frames.at(-1);
      if (parent === undefined) whole = cut;
      else {
        parent.child = cut;
        parent.memberValues += frame.values;
      }
    }
  }
  return whole;
}

function frameAt(openAt: number, isObject: boolean): Frame {
  const from = openAt + 1;
  const counts = { runFrom: from, runValues: 0, memberFrom: from, memberValues: 0, colonAt: from, values: 0 };
  return { isObject, segments: [], openAt, child: undefined, ...counts };
}

function isPiece({ runFrom, runValues }: Frame, at: number, size: PieceSize): boolean {
  return runValues >= size.values || at - runFrom >= size.bytes;
}

/** Ends the member before `at`, where its comma or the end of the container is. */
function endMember(frame: Frame, at: number): void {
  const values = frame.memberValues + 1;
  frame.values += values;
  frame.memberValues = 0;
  if (frame.child === undefined) frame.runValues += values;
  else {
    // The run before it ends with a comma, which is no part of it.
    if (frame.memberFrom > frame.runFrom) frame.segments.push({ from: frame.runFrom, to: frame.memberFrom - 1 });
    const key = frame.isObject ? { from: frame.memberFrom, to: frame.colonAt } : undefined;
    frame.segments.push({ key, cut: frame.child });
    frame.child = undefined;
    frame.runFrom = at + 1;
    frame.runValues = 0;
  }
  frame.memberFrom = at + 1;
}

function endRun(frame: Frame, at: number): void {
  if (at > frame.runFrom) frame.segments.push({ from: frame.runFrom, to: at });
  frame.runFrom = at + 1;
  frame.runValues = 0;
}

function endContainer(frame: Frame, at: number, size: PieceSize): Cut | undefined {
  endMember(frame, at);
  const isLarge = frame.values > size.values || at - frame.openAt > size.bytes;
  if (!isLarge && frame.segments.length === 0) return undefined;
  endRun(frame, at);
  return { isObject: frame.isObject, values: frame.values, segments: frame.segments };
}

/** Returns the index of the closing quote of the string starting at `from`. */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (at - 1 - slashes >= from && bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return bytes.length;
}

/** Returns what `JSON.parse` makes of the text that was cut. `pause` is awaited after a piece when it returns a promise. */
export async function assembled(
  { isObject, segments }: Cut,
  bytes: Buffer,
  pause: () => Promise<void> | undefined,
): Promise<unknown> {
  const [open, close] = isObject ? '{}' : '[]';
  const parse = ({ from, to }: Range) => JSON.parse(open + bytes.toString('utf8', from, to) + close) as object;
  const list: unknown[] = [];
  const members: Record<string, unknown> = {};
  for (const segment of segments) {
    if ('cut' in segment) {
      const value = await assembled(segment.cut, bytes, pause);
      if (segment.key === undefined) list.push(value);
      else put(members, JSON.parse(bytes.toString('utf8', segment.key.from, segment.key.to)) as string, value);
    } else if (isObject) {
      for (const [key, value] of Object.entries(parse(segment))) put(members, key, value);
    } else for (const value of parse(segment) as unknown[]) list.push(value);
    await pause();
  }
  return isObject ? members : list;
}

/** Sets a member as the parser does: also `__proto__` is an ordinary name. */
function put(members: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') members[key] = value;
  else Object.defineProperty(members, key, { value, enumerable: true, writable: true, configurable: true });
}
