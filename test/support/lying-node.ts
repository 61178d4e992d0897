import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEV_ADDRESSES } from '../../config/networks/dev-keys.ts'
import { DEVNET } from '../../config/networks/devnet.ts'
import { createRuleBook } from '../../consensus/chain/rule-book.ts'
import { formatAddress } from '../../consensus/crypto/address.ts'
import { type Fault, faultMessage } from '../../consensus/primitives/fault.ts'
import { decodeTransaction, type Transaction } from '../../consensus/tx/transaction.ts'
import { PROTOCOL } from '../../src/protocol.ts'
import { runCommand } from './run-command.ts'

export type Json = Readonly<Record<string, unknown>>

/** An answer at one path. `text` is sent in place of `json`; null hangs up. */
export type Told = { readonly status: number; readonly json: unknown; readonly text?: string } | null

/** How a command ended. */
export interface Ran {
  /** Exit code, or the fault as text. */
  readonly end: number | string
  readonly fault: Fault | null
  /** Lines for people (`notes`) and lines of output (`prints`). */
  readonly notes: readonly string[]
  readonly prints: readonly string[]
}

export const HEIGHT = 100

/** Addresses of the wallet that commands use, and of another holder. */
export const [OWN, OTHER] = DEV_ADDRESSES.map((address) => formatAddress(DEVNET.addressPrefix, address)) as [
  string,
  string,
]

/** A fake node that answers as a test wants and keeps every transaction that it gets. It shares no code with the real node's server. */
export class LyingNode {
  readonly #answers = new Map<string, () => Told>()
  readonly #folder = mkdtempSync(join(tmpdir(), 'farthing-lying-'))
  readonly sent: Transaction[] = []
  readonly #server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://node')
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.method === 'POST' && pathname === '/api/v1/tx') this.#keep(Buffer.concat(chunks))
      const told = this.#tell(pathname)
      if (told === null) return void request.socket.destroy()
      response.writeHead(told.status, { 'content-type': 'application/json' })
      response.end(told.text ?? JSON.stringify(told.json))
    })
  })

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  /** Forgets all answers and sent transactions. The node is then honest, and each account has a balance of 1 base unit. */
  reset(): void {
    this.#answers.clear()
    this.sent.length = 0
    const account = { exists: true, balance: '1', nonce: '1', height: HEIGHT, pending: { nextNonce: '1' } }
    this.says('/api/v1/accounts', account)
    this.status({})
    this.says('/api/v1/fees', { suggested: { maxFeeRate: '20', tip: '1' } })
    this.says('/api/v1/tx', { status: 'mempool' })
    this.says('/api/v1/tx/', { status: 'unknown', confirmations: 0 })
  }

  /** Sets the answer at paths with this beginning. The longest beginning wins. */
  says(path: string, json: unknown, status = 200): void {
    this.answers(path, () => ({ status, json }))
  }

  /** Sets the answer to a simulation, by default a success. */
  simulates(change: Json = {}): void {
    const success = { wouldMine: true, success: true, code: null, fee: '100000', amounts: [], changes: [] }
    this.says('/api/v1/tx/simulate', { ...success, ...change })
  }

  /** Sets a function that answers each request; null hangs up. */
  answers(path: string, told: () => Told): void {
    this.#answers.set(path, told)
  }

  status(change: Json): void {
    const genesis = createRuleBook(DEVNET, PROTOCOL).genesis.block.id
    this.says('/api/v1/status', { networkName: 'devnet', genesis, chainId: 1, height: HEIGHT, ...change })
  }

  /** Runs a command against this node. */
  async run(...args: readonly string[]): Promise<Ran> {
    const place = { url: this.url, params: DEVNET, folder: this.#folder }
    const { outcome, notes, prints } = await runCommand(place, args)
    const fault = typeof outcome === 'number' ? null : outcome
    return { end: fault === null ? (outcome as number) : faultMessage(fault), fault, notes, prints }
  }

  #tell(pathname: string): Told {
    const paths = [...this.#answers.keys()].filter((path) => pathname.startsWith(path))
    const longest = paths.sort((a, b) => b.length - a.length)[0]
    const told = longest === undefined ? undefined : this.#answers.get(longest)
    return told === undefined ? { status: 404, json: { error: 'nothing here', code: 'not_found' } } : told()
  }

  #keep(bytes: Uint8Array): void {
    const decoded = decodeTransaction(new Uint8Array(bytes))
    if (!decoded.ok) throw new Error(faultMessage(decoded.fault))
    this.sent.push(decoded.value)
  }
}
