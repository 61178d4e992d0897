import {
  isBigIntLiteral,
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isConditionalExpression,
  isExpressionStatement,
  isFunctionDeclaration,
  isIdentifier,
  isIfStatement,
  isImportDeclaration,
  isInterfaceDeclaration,
  isParameterDeclaration,
  isPropertyAssignment,
  isTypeNode,
  isVariableDeclaration,
  type Node,
  type SourceFile,
} from 'typescript/unstable/ast'

/** A source file with one fault. */
export interface Mutant {
  /** Identifies the mutant while its function and statement stay unchanged. */
  readonly name: string
  readonly line: number
  /** The lines that changed, as in a diff. */
  readonly diff: string
  readonly text: string
}

/** Text that replaces some of the file. */
interface Change {
  readonly rule: string
  readonly start: number
  readonly end: number
  readonly to: string
}

/** Replacements of an operator: for comparisons first the border, then the direction. */
const OPERATORS: Readonly<Record<string, readonly string[]>> = {
  '+': ['-'],
  '-': ['+'],
  '*': ['+', '/'],
  '**': ['*'],
  '<<': ['>>'],
  '>>=': ['<<='],
  '<': ['<=', '>'],
  '<=': ['<', '>'],
  '>': ['>=', '<'],
  '>=': ['>', '<'],
  '&&': ['||'],
  '||': ['&&'],
  '===': ['!=='],
}

/** Names of the same type that are easily confused. */
const TWINS: readonly (readonly [string, string])[] = [
  ['mulDivDown', 'mulDivUp'],
  ['reserveA', 'reserveB'],
  ['offeredA', 'offeredB'],
  ['forA', 'forB'],
  ['reserveIn', 'reserveOut'],
  ['amountIn', 'amountOut'],
  ['before', 'after'],
  ['BPS', 'PPM'],
  ['root', 'next'],
  ['atSpot', 'executed'],
]

/** Calls whose first two arguments are factors of one product: swapping them changes nothing. */
const COMMUTES = new Set(['mulDivDown', 'mulDivUp'])

/** All mutants of a file, in text order. */
export function mutantsOf(source: SourceFile): readonly Mutant[] {
  const mutants: Mutant[] = []
  const visit = (node: Node, within: string): void => {
    if (isImportDeclaration(node) || isInterfaceDeclaration(node) || isTypeNode(node)) return
    const named = isFunctionDeclaration(node) && node.name !== undefined ? node.name.text : within
    for (const change of changesOf(node, source)) mutants.push(mutantOf(source, change, named))
    node.forEachChild((child) => visit(child, named))
  }
  visit(source, 'constants')
  return mutants.toSorted((a, b) => a.line - b.line)
}

function changesOf(node: Node, source: SourceFile): readonly Change[] {
  return [operators, operands, constants, twins, calls, guards, choices].flatMap((rule) => rule(node, source))
}

function operators(node: Node, source: SourceFile): readonly Change[] {
  if (!isBinaryExpression(node)) return []
  const operator = node.operatorToken
  return (OPERATORS[operator.getText(source)] ?? []).map((to) => replaced('operator', operator, source, to))
}

/** Swaps the operands of a difference. */
function operands(node: Node, source: SourceFile): readonly Change[] {
  if (!isBinaryExpression(node) || node.operatorToken.getText(source) !== '-') return []
  const [left, right] = [node.left.getText(source), node.right.getText(source)]
  return [replaced('operands', node, source, `${right} - ${left}`)]
}

/** Changes a bigint literal by one, in both directions. */
function constants(node: Node, source: SourceFile): readonly Change[] {
  if (!isBigIntLiteral(node)) return []
  const value = BigInt(node.getText(source).replace(/[_n]/g, ''))
  return [value + 1n, value - 1n].map((to) => replaced('constant', node, source, to < 0n ? `(${to}n)` : `${to}n`))
}

/** Replaces a read name by its twin of {@link TWINS}: for example `mulDivDown` by `mulDivUp`, or `before` by `after`. */
function twins(node: Node, source: SourceFile): readonly Change[] {
  if (!isIdentifier(node) || declares(node)) return []
  const pair = TWINS.find((names) => names.includes(node.text))
  if (pair === undefined) return []
  return [replaced('name', node, source, node.text === pair[0] ? pair[1] : pair[0])]
}

/** Whether an identifier gives a name rather than reads one. */
function declares(node: Node): boolean {
  const { parent } = node
  if (isParameterDeclaration(parent) || isBindingElement(parent)) return true
  return (isPropertyAssignment(parent) || isVariableDeclaration(parent)) && parent.name === node
}

/** Swaps two arguments of a call. Asserts stay as they are. */
function calls(node: Node, source: SourceFile): readonly Change[] {
  if (!isCallExpression(node)) return []
  const called = node.expression.getText(source)
  if (called === 'assert') return []
  const texts = node.arguments.map((argument) => argument.getText(source))
  const swaps = texts.flatMap((_, j) => texts.slice(0, j).map((_, i) => [i, j] as const))
  return swaps
    .filter(([i, j]) => !(COMMUTES.has(called) && i === 0 && j === 1))
    .map(([i, j]) => {
      const swapped = texts.with(i, texts[j] as string).with(j, texts[i] as string)
      return replaced('arguments', node, source, `${called}(${swapped.join(', ')})`)
    })
}

/** Makes the condition of an `if` always true or always false, and removes statements that are only an expression. */
function guards(node: Node, source: SourceFile): readonly Change[] {
  if (isIfStatement(node)) {
    const condition = node.expression
    return ['true', 'false'].map((to) => replaced('condition', condition, source, to))
  }
  if (!isExpressionStatement(node)) return []
  return [replaced('statement', node, source, ';')]
}

/** Swaps the results of a choice, or always takes one. */
function choices(node: Node, source: SourceFile): readonly Change[] {
  if (!isConditionalExpression(node)) return []
  const [test, yes, no] = [node.condition, node.whenTrue, node.whenFalse].map((part) => part.getText(source))
  return [`${test} ? ${no} : ${yes}`, yes as string, no as string].map((to) => replaced('choice', node, source, to))
}

function replaced(rule: string, node: Node, source: SourceFile, to: string): Change {
  return { rule, start: node.getStart(source), end: node.getEnd(), to }
}

function mutantOf({ text }: SourceFile, { rule, start, end, to }: Change, within: string): Mutant {
  const mutated = text.slice(0, start) + to + text.slice(end)
  const first = text.lastIndexOf('\n', start - 1) + 1
  const last = (at: number, within: string): number => (within.indexOf('\n', at) + 1 || within.length + 1) - 1
  const was = text.slice(first, last(end, text))
  const is = mutated.slice(first, last(start + to.length, mutated))
  return {
    name: `${within} ${rule}: ${oneLine(was)} => ${oneLine(is)}`,
    line: text.slice(0, start).split('\n').length,
    diff: [...lines('-', was), ...lines('+', is)].join('\n'),
    text: mutated,
  }
}

const oneLine = (text: string): string => text.trim().replace(/\s+/g, ' ')

const lines = (mark: string, text: string): readonly string[] => text.split('\n').map((line) => `    ${mark} ${line}`)
