import { join } from 'node:path'
import { DEV_ADDRESSES } from '../../config/networks/dev-keys.ts'
import type { Address } from '../../consensus/primitives/ids.ts'
import { marketOpen } from '../support/caller.ts'
import { mineAtPace } from '../support/mine-by-hand.ts'
import { Program, removeFolder, temporaryFolder, until } from '../support/processes.ts'
import { ROOT } from '../support/source-tree.ts'
import { freePort } from '../support/tcp-proxy.ts'

/** Text that differs from run to run, and its replacement. */
export type Mask = readonly [RegExp, string]

/** A command without the program's name. Values known only at run time are in braces. */
export interface Step {
  readonly line: string
  /** Most shown lines of its output; all by default. */
  readonly shown?: number
  readonly masks?: readonly Mask[]
  /** Values to take from the output for braces in later lines. */
  readonly keeps?: Readonly<Record<string, RegExp>>
  /** Repeats the command until its output matches. For a node: waits until its output matches. */
  readonly until?: RegExp
  /** Whether it starts a node, which keeps running. The first node sells. */
  readonly isNode?: true
}

/** Ports that the document shows. Steps name them in braces, such as `{rpc}`, and are run with free ports instead. */
const SHOWN_PORTS = { rpc: '8420', p2p: '8421', secondRpc: '8440', secondP2p: '8441' } as const
type Ports = Readonly<Record<keyof typeof SHOWN_PORTS, string>>

/** Masks for all outputs. `#masked` also replaces the ports and the home folder. */
const MASKS: readonly Mask[] = [
  [/\b12D3KooW\w+/g, '<peer>'],
  [/\b[0-9a-f]{64}\b/g, '<id>'],
  [/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, '<time>'],
  [/\d{4}-\d{2}-\d{2} [\d:]+ UTC/g, '<time>'],
  [/\b(height) \d+/g, '$1 <n>'],
  [/\b\d+ confirmations?\b/g, '<n> confirmations'],
  [/\bin \d+ ms\b/g, 'in <n> ms'],
]
const PROGRAM = 'npx --no farthing'
const COMMAND_MS_MAX = 240_000
/** The wallet that the first node mines for: the devnet's market. */
const MARKET = DEV_ADDRESSES[1] as Address
const BLOCK_MS = 1_000
/** Indentation of a value's continuation lines. */
const GOING_ON = 8

/** A temporary home with nodes, for commands as a user types them. */
export class Transcripts {
  readonly #home = temporaryFolder()
  readonly #ports: Ports
  readonly #known: Map<string, string>
  readonly #nodes: Program[] = []
  #endMining: (() => Promise<void>) | undefined

  private constructor(ports: Ports) {
    this.#ports = ports
    this.#known = new Map(Object.entries(ports))
  }

  static async open(): Promise<Transcripts> {
    const [rpc, p2p, secondRpc, secondP2p] = [await freePort(), await freePort(), await freePort(), await freePort()]
    return new Transcripts({ rpc: `${rpc}`, p2p: `${p2p}`, secondRpc: `${secondRpc}`, secondP2p: `${secondP2p}` })
  }

  /** Runs a command. Returns the command and its output as a terminal shows them. */
  async run({ line, shown, masks = [], keeps = {}, isNode, until: wanted }: Step): Promise<string> {
    const typed = line.replace(/\{(\w+)\}/g, (_, name: string) => this.#known.get(name) ?? name)
    let output = isNode === true ? await this.#start(typed, wanted) : await this.#outputOf(typed)
    while (wanted !== undefined && !wanted.test(output)) output = await this.#outputOf(typed)
    for (const [name, pattern] of Object.entries(keeps)) {
      const found = pattern.exec(output)?.[1]
      if (found === undefined) throw new Error(`${typed}: there is no ${name} in:\n${output}`)
      this.#known.set(name, found)
    }
    const masked = this.#masked(output, masks).split('\n')
    const lines = shown === undefined || masked.length <= shown ? masked : [...masked.slice(0, shown), '...']
    const told = this.#masked(typed, masks).replaceAll('$(farthing ', `$(${PROGRAM} `)
    return [`$ ${PROGRAM} ${told}`, ...lines].join('\n')
  }

  /** Ends each node by its own id, and removes the home. */
  async close(): Promise<void> {
    await this.#endMining?.()
    await Promise.all(this.#nodes.map((node) => node.end('SIGTERM')))
    removeFolder(this.#home)
  }

  #program(typed: string): Program {
    // Both streams in the order of writing, as on a terminal.
    const script = `farthing() { "$NODE" "$MAIN" "$@"; }; farthing ${typed} 2>&1`
    return new Program({ node: 'sh', entry: '-c', args: [script], env: this.#environment })
  }

  get #environment(): Readonly<Record<string, string>> {
    const own = { HOME: this.#home, NODE: process.execPath, MAIN: join(ROOT, 'src/main.ts') }
    const { rpc, p2p } = this.#ports
    // Other nodes of this machine must not be found.
    const place = { FARTHING_RPC_PORT: rpc, FARTHING_P2P_PORT: p2p, FARTHING_P2P_MDNS: 'false' }
    return { ...own, ...place, FARTHING_WEB_ENABLED: 'false' }
  }

  async #outputOf(typed: string): Promise<string> {
    const program = this.#program(typed)
    const timer = setTimeout(() => program.signal('SIGKILL'), COMMAND_MS_MAX)
    const { stdout } = await program.finished()
    clearTimeout(timer)
    return stdout.trimEnd()
  }

  async #start(typed: string, said = /./): Promise<string> {
    const entry = join(ROOT, 'src/main.ts')
    const args = typed.replace('~', this.#home).split(' ')
    const node = new Program({ entry, args, env: this.#environment })
    this.#nodes.push(node)
    const greeting = (): string => node.stderr.replace(/^\{.*\n/gm, '')
    await until('the node greets', () => said.test(greeting()))
    const url = `http://127.0.0.1:${this.#ports.rpc}`
    // Mining threads have the lowest priority: beside other tests they would find no block for minutes.
    this.#endMining ??= mineAtPace(url, BLOCK_MS, MARKET)
    await marketOpen(url)
    return greeting().trimEnd()
  }

  #masked(text: string, masks: readonly Mask[]): string {
    let masked = text.replaceAll(this.#home, '~')
    // Ids and amounts hold the same digits, too.
    for (const [name, shown] of Object.entries(SHOWN_PORTS))
      masked = masked.replace(new RegExp(`(?<=[:/]|port )${this.#ports[name as keyof Ports]}\\b`, 'g'), shown)
    for (const [pattern, stand] of [...MASKS, ...masks]) masked = masked.replace(pattern, stand)
    return masked === text ? text : aligned(masked)
  }
}

/** Realigns columns after the masks changed their widths. */
function aligned(text: string): string {
  const blocks: { readonly depth: number; readonly rows: string[][] }[] = []
  for (const line of text.split('\n')) {
    const [indent = ''] = /^ *(?:- )?/.exec(line) ?? []
    const cells = line.slice(indent.length).split(/ {2,}/)
    // Indented deeper than any list: the continuation of a value.
    const goesOn = indent.length >= GOING_ON
    const [depth, row] = goesOn ? [0, ['', ...cells]] : [indent.length, [`${indent}${cells[0]}`, ...cells.slice(1)]]
    const last = blocks.at(-1)
    if (last?.depth === depth && last.rows[0]?.length === row.length && row.length > 1) last.rows.push(row)
    else blocks.push({ depth, rows: [row] })
  }
  return blocks.flatMap(({ rows }) => rows.map((row) => paddedRow(row, rows))).join('\n')
}

function paddedRow(row: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = row.map((_, at) => Math.max(...rows.map((one) => one[at]?.length ?? 0)))
  return row
    .map((cell, at) => cell.padEnd(widths[at] as number))
    .join('  ')
    .trimEnd()
}
