import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { createRuleBook } from '../../../consensus/chain/rule-book.ts'
import { formatAddress } from '../../../consensus/crypto/address.ts'
import { type Fault, fault } from '../../../consensus/primitives/fault.ts'
import { ok, type Result } from '../../../consensus/primitives/result.ts'
import type { JobOwner } from '../../../rpc/client/mining.ts'
import { NodeClient } from '../../../rpc/client/node-client.ts'
import { useNativeSha256 } from '../../crypto/native-backend.ts'
import { PROTOCOL } from '../../protocol.ts'
import { MiningPool } from '../../workers/mining-pool.ts'
import { type Command, type CommandContext, nodeUrl, WALLET_FLAG } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { ExternalMiner } from '../external-miner.ts'
import { ownWallet } from '../session.ts'
import { readAddress, usage } from '../values.ts'

const THREADS_MAX = 256
const RATE_MS = 30_000
/** Time for the threads to end. They have the lowest priority, and no work worth waiting for. */
const THREADS_END_MS = 300

/** `farthing mine`: mines for a node with the threads of this machine. */
export const mineCommand: Command = {
  name: 'mine',
  usage: '',
  wordsMax: 0,
  about: 'Mine for a node, on this machine or another, with any number of threads',
  example: 'mine --node http://127.0.0.1:8420 --threads 2',
  flags: {
    node: 'Base address of the node; default: the local API',
    threads: 'Mining threads; default: one per core',
    address: 'Address that mining pays; default: that of the wallet',
    ...WALLET_FLAG,
  },
  run: async (context) => {
    useNativeSha256()
    const threads = readThreads(context)
    if (!threads.ok) return threads.fault
    const url = readUrl(context)
    if (!url.ok) return url.fault
    const owner = await rewardOwner(context)
    if (!owner.ok) return owner.fault
    const elsewhere = await otherNetwork(url.value, context)
    if (elsewhere !== null) return elsewhere
    return mine(context, { url: url.value, owner: owner.value, threads: threads.value })
  },
}

interface MineOptions {
  readonly url: string
  readonly owner: JobOwner
  readonly threads: number
}

async function mine({ print, note }: CommandContext, { url, owner, threads }: MineOptions): Promise<number> {
  const told = new AbortController()
  const over = new Promise<void>((resolve) => told.signal.addEventListener('abort', () => resolve()))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => told.abort())
  const pool = new MiningPool(threads, (error) => note(`a mining thread failed: ${String(error)}`))
  let blocks = 0
  const rates = tellRates(pool, (rate) => note(`${rate} hashes/s, ${blocks} blocks found`))
  const miner = new ExternalMiner({
    ...{ url, owner, note, searcher: pool, signal: told.signal },
    // Start in the lower half: more nonces lie above it than can be tried.
    firstNonce: () => randomBytes(8).readBigUInt64LE() >> 1n,
    onMined: ({ height, id, transactions }) => {
      blocks += 1
      print(`block ${height} ${id} with ${transactions} transactions`)
    },
  })
  // Do not wait for an outstanding answer.
  await Promise.race([miner.run(), over])
  rates.stop()
  await Promise.race([pool.close(), setTimeout(THREADS_END_MS)])
  return EXIT.ok
}

function tellRates(pool: MiningPool, tell: (perSecond: number) => void): { readonly stop: () => void } {
  let last = { ms: performance.now(), hashes: pool.hashes }
  const timer = setInterval(() => {
    const now = { ms: performance.now(), hashes: pool.hashes }
    tell(Math.round((Number(now.hashes - last.hashes) * 1_000) / (now.ms - last.ms)))
    last = now
  }, RATE_MS)
  return { stop: () => clearInterval(timer) }
}

function readThreads({ flags: { threads } }: CommandContext): Result<number> {
  if (threads === undefined) return ok(availableParallelism())
  const count = /^[1-9][0-9]{0,2}$/.test(threads) ? Number(threads) : 0
  if (count >= 1 && count <= THREADS_MAX) return ok(count)
  return usage(`--threads is "${threads.slice(0, 20)}"; allowed: 1 to ${THREADS_MAX}`)
}

function readUrl(context: CommandContext): Result<string> {
  const { config, flags } = context
  const url = nodeUrl({ config, flags: flags.node === undefined ? {} : { rpc: flags.node } })
  if (/^https?:\/\/[^\s/]/.test(url) && URL.canParse(url)) return ok(url)
  return usage(`--node is "${url.slice(0, 60)}"; allowed: an http(s) address as http://127.0.0.1:8420`)
}

async function rewardOwner(context: CommandContext): Promise<Result<JobOwner>> {
  const { flags } = context
  if (flags.address !== undefined && flags.wallet !== undefined)
    return usage('--address and --wallet both say whom mining pays; give one of them')
  const address =
    flags.address === undefined
      ? await ownWallet(context, flags.node?.replace(/\/+$/, ''))
      : readAddress(context, flags.address)
  if (!address.ok) return address
  return ok({ address: address.value, text: formatAddress(context.params.addressPrefix, address.value) })
}

/**
 * A fault if the node is on another network, where the address may belong to another owner. Null if it is not, or if the
 * node cannot be reached: the node may come back.
 */
async function otherNetwork(url: string, { params }: CommandContext): Promise<Fault | null> {
  const status = await new NodeClient(url).status()
  if (!status.ok) return status.fault.code === 'cli/node-unreachable' ? null : status.fault
  if (status.value.genesis === createRuleBook(params, PROTOCOL).genesis.block.id) return null
  const message = `the node is on ${status.value.networkName}, this command is set to ${params.name}; see --network`
  return fault('cli/refused', { message })
}
