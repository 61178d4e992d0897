import { constants } from 'node:crypto'
import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectSafely } from 'node:tls'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import type { AddressGuard } from './address-guard.ts'
import type { FetchGate } from './fetch-gate.ts'
import type { NameSystem } from './name-system.ts'
import { hostOf, portOf } from './public-url.ts'

/** Redirects connections to public addresses, for tests only. */
export interface Dial {
  to(address: string, port: number): { readonly address: string; readonly port: number }
  /** A certificate authority that is trusted there. */
  readonly ca?: string
}

/** What connections to strangers need. */
export interface SocketDependencies {
  readonly names: Pick<NameSystem, 'lookUp'>
  readonly guard: AddressGuard
  readonly gate: FetchGate
  /**
   * Addresses that must not be connected to, beside those of this machine's interfaces: the public ones of this node,
   * and those of its peers.
   */
  readonly ownAddresses: (signal: AbortSignal) => Promise<readonly string[]>
  readonly dial?: Dial
}

const ADDRESSES_MAX = 8
/** How long one address is tried before the next. */
const ATTEMPT_MS = 1_000

/** `close` also frees the place in the `FetchGate`. */
export interface StrangerSocket {
  readonly socket: Socket
  readonly close: () => void
}

/**
 * Connects to the host of a URL. The name is looked up once, the guard checks every address, and the socket uses
 * exactly these: a later DNS answer has no effect (DNS rebinding). Faults: `web/refused`, `web/unreachable`,
 * `web/timeout`, `web/busy`.
 */
export async function connectToStranger(
  url: URL,
  parts: SocketDependencies,
  signal: AbortSignal,
): Promise<Result<StrangerSocket>> {
  const host = hostOf(url)
  const found = isIP(host) === 0 ? await parts.names.lookUp(host, signal) : ok([host])
  if (!found.ok) return found
  const reason = parts.guard.refusal(found.value, await parts.ownAddresses(signal))
  if (reason !== null) return fail(fault('web/refused', { reason }))
  const addresses = found.value.slice(0, ADDRESSES_MAX)
  const leave = parts.gate.connect(addresses)
  if (leave === null) return fail(fault('web/busy', { host, reason: 'its address has many connections' }))
  const socket = open(url, addresses, parts.dial)
  const close = (): void => {
    socket.destroy()
    leave()
  }
  const failed = await connected(socket, url, signal)
  if (failed === null) return ok({ socket, close })
  close()
  return fail(failed)
}

function open(url: URL, addresses: readonly string[], dial: Dial | undefined): Socket {
  const host = hostOf(url)
  const port = portOf(url)
  const targets = addresses.map((address) => dial?.to(address, port) ?? { address, port })
  const lookup: LookupFunction = (_host, _options, callback) =>
    callback(
      null,
      targets.map(({ address }) => ({ address, family: isIP(address) })),
    )
  const to = {
    // For a literal IP address no lookup happens, so the host must be the target.
    host: isIP(host) === 0 ? host : (targets[0]?.address ?? host),
    port: targets[0]?.port ?? port,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
  }
  if (url.protocol === 'http:') return connectPlain(to)
  const named = isIP(host) === 0 ? { servername: host } : {}
  const trusted = dial?.ca === undefined ? {} : { ca: dial.ca }
  // A server could renegotiate TLS without end; each handshake is main-thread work that no limit counts.
  const once = { secureOptions: constants.SSL_OP_NO_RENEGOTIATION }
  return connectSafely({ ...to, ...named, ...trusted, ...once, ALPNProtocols: ['http/1.1'], rejectUnauthorized: true })
}

/** Waits until the socket is writable, TLS included; null then, else the fault. */
function connected(socket: Socket, url: URL, signal: AbortSignal): Promise<ReturnType<typeof fault> | null> {
  const host = hostOf(url)
  return new Promise((resolve) => {
    const onAbort = (): void => resolve(fault('web/timeout', { host }))
    const settle = (answer: ReturnType<typeof fault> | null): void => {
      signal.removeEventListener('abort', onAbort)
      resolve(answer)
    }
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    // The listener stays: an unhandled socket error would end the process.
    socket.on('error', (error: NodeJS.ErrnoException) =>
      settle(fault('web/unreachable', { host, reason: error.code ?? 'no connection' })),
    )
    socket.once('close', () => settle(fault('web/unreachable', { host, reason: 'the connection was closed' })))
    socket.once(url.protocol === 'http:' ? 'connect' : 'secureConnect', () => settle(null))
  })
}
