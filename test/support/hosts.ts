import { generateKeyPair } from '@libp2p/crypto/keys'
import { decodeTransaction } from '../../consensus/tx/transaction.ts'
import { type Host, type HostOptions, openHost } from '../../src/p2p/host/host.ts'
import type { Blame } from '../../src/p2p/host/links.ts'
import type { GossipJudge, NetworkLog, PeerId } from '../../src/p2p/network.ts'
import type { Offence } from '../../src/p2p/peers/offences.ts'
import { PROTOCOLS } from '../../src/p2p/wire/protocols.ts'
import { until } from './processes.ts'

/** Genesis id of the network of test hosts. */
export const TEST_GENESIS = 'ab'.repeat(32)

/** Offences that a host saw and warnings that it logged. */
export interface Sightings {
  readonly offences: { readonly peer: PeerId; readonly offence: Offence; readonly about: string }[]
  readonly warnings: { readonly facts: object; readonly message: string }[]
}

const SIGHTINGS = new WeakMap<Host, Sightings>()

/** Offences and warnings of a host made by `makeHost`. */
export function sightingsOf(host: Host): Sightings {
  return SIGHTINGS.get(host) as Sightings
}

/** Makes a host on a free local port. It is not started and serves nothing yet. */
export async function makeHost(options: Partial<HostOptions> = {}): Promise<Host> {
  const sightings: Sightings = { offences: [], warnings: [] }
  const log: NetworkLog = {
    debug: () => {},
    info: () => {},
    warn: (facts, message) => sightings.warnings.push({ facts, message }),
  }
  const opened = await openHost({
    key: await generateKeyPair('Ed25519'),
    genesis: TEST_GENESIS,
    agent: 'farthing-test',
    listen: { host: '127.0.0.1', port: 0 },
    announce: null,
    inboundMax: 64,
    outboundMax: 16,
    dht: false,
    mdns: false,
    upnp: false,
    autonat: false,
    allowPrivate: true,
    clock: { now: () => Math.round(performance.now()) },
    log,
    ...options,
  })
  if (!opened.ok) throw new Error(opened.fault.code)
  opened.value.onViolation((peer, offence, about) => sightings.offences.push({ peer, offence, about }))
  SIGHTINGS.set(opened.value, sightings)
  return opened.value
}

export async function startHost(options: Parameters<typeof makeHost>[0] = {}): Promise<Host> {
  const host = await makeHost(options)
  await begin(host)
  return host
}

/** Starts a host, and throws if that fails. */
export async function begin(host: Host): Promise<void> {
  const started = await host.start()
  if (!started.ok) throw new Error(`${started.fault.code} ${JSON.stringify(started.fault.detail)}`)
}

/** Connects two hosts, and waits until both see the connection. */
export async function connect(from: Host, to: Host): Promise<void> {
  const dialled = await from.dial(to.addresses()[0] as string)
  if (!dialled.ok) throw new Error(`${dialled.fault.code} ${JSON.stringify(dialled.fault.detail)}`)
  await until('both see the connection', () => isConnected(from, to) && isConnected(to, from), { everyMs: 5 })
}

/** Whether a host sees another as connected. */
export function isConnected(from: Host, to: Host): boolean {
  return from.peers().some(({ id }) => id === to.self)
}

/** A reply to `bodies` of the greatest length. */
const PAGE = new Uint8Array(PROTOCOLS.bodies.replyMax).fill(7)

/**
 * Starts a host for attacks on it. It answers `status` with the request's body and `bodies` with {@link PAGE}. It accepts gossip, but
 * rejects a message that begins with `!`. If a message begins with `?`, it decodes the transaction that follows and ignores the message.
 */
export async function startVictim(
  blame: Blame,
  options: Partial<HostOptions> = {},
): Promise<{ readonly host: Host; readonly warnings: readonly string[] }> {
  const host = await makeHost(options)
  host.onViolation(blame)
  host.serve('status', async (_, body) => body)
  host.serve('bodies', async () => PAGE.slice())
  const judge: GossipJudge = async (from, body, time) => {
    if (body[0] === '?'.charCodeAt(0)) {
      time?.measure(() => decodeTransaction(body.subarray(1)))
      return 'ignore'
    }
    if (body[0] !== '!'.charCodeAt(0)) return 'accept'
    blame(from, 'bad-transaction', 'it begins with an exclamation mark')
    return 'reject'
  }
  host.subscribe('blocks', judge)
  host.subscribe('transactions', judge)
  await begin(host)
  const warnings: string[] = []
  for (const name of ['unhandledRejection', 'uncaughtException']) {
    process.on(name, (error: unknown) => warnings.push(`${name} ${String(error)}`))
  }
  return { host, warnings }
}
