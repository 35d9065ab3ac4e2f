/** Makes the mutants of one source text: each changes one place as a slip of the programmer would. */
import { parseAst } from 'vitest/node';

/** One changed place of a text. */
export interface Mutant {
  /** What kind of change it is. */
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  /** What stands there instead. */
  readonly text: string;
}

/** A node of the syntax tree (ESTree with TypeScript), of which only some members are read here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
}

const SWAPPED: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '<<': ['>>'],
  '>>': ['<<'],
  '&': ['|'],
  '|': ['&'],
};
const SWAPPED_CALLS: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  floor: 'ceil',
  ceil: 'floor',
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  trim: 'toString',
};
/** Calls on a list whose result may be the list as it was. */
const LEFT_OUT = new Set(['filter', 'toReversed', 'toSorted', 'sort', 'reverse']);

/** Returns every mutant of a text, in the order of their places; of some functions alone if `deciding` names them. */
export function mutantsOf(source: string, deciding: readonly string[] | 'all'): Mutant[] {
  const tree = parseAst(source, { lang: 'ts' }) as unknown as Node;
  const roots = deciding === 'all' ? [tree] : functionsIn(tree).filter((one) => deciding.includes(nameOf(one)));
  const finder = new Finder(source);
  for (const root of roots) finder.visit(root);
  return finder.found.toSorted((a, b) => a.start - b.start || a.end - b.end);
}

class Finder {
  readonly found: Mutant[] = [];
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  visit(node: Node): void {
    // Types and imports decide nothing.
    if (/^(TS|Import)/.test(node.type) && !/^TS(As|NonNull|Satisfies)/.test(node.type)) return;
    this.#byType[node.type]?.(node);
    for (const [name, member] of Object.entries(node)) {
      if (name === 'typeAnnotation' || name === 'typeArguments' || name === 'key') continue;
      for (const one of Array.isArray(member) ? member : [member]) if (isNode(one)) this.visit(one);
    }
  }

  readonly #byType: Readonly<Record<string, (node: Node) => void>> = {
    BinaryExpression: (node) => this.#binary(node, String(node['operator'])),
    LogicalExpression: (node) => this.#logical(node, String(node['operator'])),
    IfStatement: (node) => {
      if (node['alternate'] === null) this.#leaveOut(node);
      this.#negate(node);
    },
    WhileStatement: (node) => this.#negate(node),
    ForStatement: (node) => this.#negate(node),
    ConditionalExpression: (node) => {
      this.#add('the condition always holds', node, `(${this.#textOf(node['consequent'] as Node)})`);
      this.#add('the condition never holds', node, `(${this.#textOf(node['alternate'] as Node)})`);
      this.#negate(node);
    },
    ExpressionStatement: (node) => this.#leaveOut(node),
    ThrowStatement: (node) => this.#leaveOut(node),
    ContinueStatement: (node) => this.#leaveOut(node),
    BreakStatement: (node) => this.#leaveOut(node),
    ReturnStatement: (node) => this.#returned(node['argument'] as Node | null),
    UnaryExpression: (node) => {
      if (node['operator'] === '!') this.#add('without !', node, `(${this.#textOf(node['argument'] as Node)})`);
    },
    CallExpression: (node) => this.#call(node),
    MemberExpression: (node) => this.#limit(node),
    Literal: (node) => this.#literal(node),
  };

  #leaveOut(node: Node): void {
    this.#add('the statement is left out', node, ';');
  }

  #binary(node: Node, operator: string): void {
    const [left, right] = [node['left'] as Node, node['right'] as Node];
    // Joined texts are sentences, and a compiler refuses their difference.
    const isText = [left, right].some(({ type, value }) => type === 'TemplateLiteral' || typeof value === 'string');
    if (operator === '+' && isText) return;
    const [before, after] = this.#sidesOf(node, operator);
    for (const other of SWAPPED[operator] ?? []) {
      this.#add(`${operator} becomes ${other}`, node, `${before} ${other} ${after}`);
    }
  }

  #logical(node: Node, operator: string): void {
    const [before, after] = this.#sidesOf(node, operator);
    this.#add(`only what stands before ${operator}`, node, `(${before})`);
    this.#add(`only what stands after ${operator}`, node, `(${after})`);
    const other = { '&&': '||', '||': '&&' }[operator];
    if (other !== undefined) this.#add(`${operator} becomes ${other}`, node, `((${before}) ${other} (${after}))`);
  }

  /** The texts on both sides of an operator, with the parentheses that the nodes of the sides leave out. */
  #sidesOf(node: Node, operator: string): [before: string, after: string] {
    const at = this.#source.indexOf(operator, (node['left'] as Node).end);
    return [this.#source.slice(node.start, at).trim(), this.#source.slice(at + operator.length, node.end).trim()];
  }

  #negate(node: Node): void {
    const test = node['test'] as Node | null;
    if (test !== null) this.#add('the condition is negated', test, `!(${this.#textOf(test)})`);
  }

  #returned(value: Node | null): void {
    if (value !== null && value.type !== 'Identifier') this.#add('it returns undefined', value, 'undefined');
  }

  #call(node: Node): void {
    const callee = node['callee'] as Node;
    const property = callee['property'] as Node | undefined;
    if (callee.type !== 'MemberExpression' || property?.type !== 'Identifier') return;
    const name = String(property['name']);
    const other = SWAPPED_CALLS[name];
    if (other !== undefined) this.#add(`${name} becomes ${other}`, property, other);
    if (LEFT_OUT.has(name)) this.#add(`without ${name}`, node, this.#textOf(callee['object'] as Node));
  }

  #limit(node: Node): void {
    const object = node['object'] as Node;
    if (object.type !== 'Identifier' || object['name'] !== 'limits') return;
    for (const step of ['+ 1', '- 1']) this.#add(`a limit ${step}`, node, `(${this.#textOf(node)} ${step})`);
  }

  #literal(node: Node): void {
    const { value } = node;
    if (typeof value === 'boolean') this.#add(`${value} becomes ${!value}`, node, String(!value));
    // A larger number has no neighbour that differs.
    if (typeof value !== 'number' || value > Number.MAX_SAFE_INTEGER) return;
    this.#add(`${value} becomes ${value + 1}`, node, String(value + 1));
    if (value > 0) this.#add(`${value} becomes ${value - 1}`, node, String(value - 1));
  }

  #textOf({ start, end }: Node): string {
    return this.#source.slice(start, end);
  }

  #add(operator: string, { start, end }: Node, text: string): void {
    this.found.push({ operator, start, end, text });
  }
}

/** Returns the text with one place changed. */
export function mutated(source: string, { start, end, text }: Mutant): string {
  return source.slice(0, start) + text + source.slice(end);
}

/** The functions at the top of a file and the methods of its classes. */
function functionsIn(node: Node): Node[] {
  if (/^(FunctionDeclaration|MethodDefinition)$/.test(node.type)) return [node];
  const inside = [node['body'], node['declaration']].flat().filter(isNode);
  return inside.flatMap(functionsIn);
}

/** The name of a function or method; private ones with their `#`. */
function nameOf(node: Node): string {
  const { type, name } = (node['id'] ?? node['key']) as Node;
  return type === 'PrivateIdentifier' ? `#${String(name)}` : String(name);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
