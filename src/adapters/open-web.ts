import { isIP, isIPv4 } from 'node:net'
import type { OutsideConfig } from '../../config/outside-settings.ts'
import type { Clock, Timers } from '../../consensus/chain/ports.ts'
import { fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { VERSION } from '../daemon/version.ts'
import { AddressGuard, isNetwork } from './address-guard.ts'
import { FetchGate } from './fetch-gate.ts'
import { type AskNames, NameSystem } from './name-system.ts'
import { OwnHosts } from './own-hosts.ts'
import { SafeFetcher } from './safe-fetch.ts'
import type { Dial } from './stranger-socket.ts'

/** Replaces the internet in tests. */
export interface Internet {
  readonly ask: AskNames
  readonly dial: Dial
}

/** What web access needs. */
export interface WebDependencies {
  readonly config: OutsideConfig['web']
  /** The public base address; null if there is none. */
  readonly publicUrl: string | null
  /** Multiaddress that peers are told instead of the addresses that this node listens on. */
  readonly announced: string | null
  /** IP addresses of the current peers. They are protected: a caller could harm them in this node's name. */
  readonly peerAddresses: () => readonly string[]
  readonly clock: Clock
  readonly timers: Timers
  readonly internet?: Internet | undefined
}

/** Web access, and the DNS beneath it. */
export interface OpenWeb {
  readonly names: NameSystem
  readonly web: SafeFetcher
}

/** The name of this software in the User-Agent and in robots.txt. */
const PRODUCT = 'Farthing'

/** `names.start()` begins the checks. Fault: `config/value`. */
export function openWeb({ config, clock, timers, internet, peerAddresses, ...own }: WebDependencies): Result<OpenWeb> {
  const network = config.deny.find((text) => !isNetwork(text))
  if (network !== undefined) return refused('web.deny', network, 'networks like 203.0.113.0/24, separated by commas')
  const server = config.resolvers.find((text) => !isServer(text))
  if (server !== undefined) return refused('web.resolvers', server, 'IP addresses, each with a port where it is not 53')
  const names = new NameSystem(config.resolvers, { timers, ...(internet && { ask: internet.ask }) })
  const ownHosts = new OwnHosts(own, { names, clock })
  const guard = new AddressGuard(config.deny)
  const contact = config.contact ?? own.publicUrl
  const web = new SafeFetcher({
    names,
    guard,
    gate: new FetchGate(),
    urls: { ports: config.ports, guard, ownHosts: ownHosts.hosts },
    ownAddresses: async (signal) => [...(await ownHosts.addresses(signal)), ...peerAddresses()],
    product: PRODUCT,
    userAgent: `${PRODUCT}/${VERSION}${contact === null ? '' : ` (+${contact})`}`,
    robots: config.robots,
    clock,
    ...(internet && { dial: internet.dial }),
  })
  return ok({ names, web })
}

function isServer(text: string): boolean {
  if (isIP(text) !== 0) return true
  const [, v6, v4, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const isAddress = v6 === undefined ? isIPv4(v4 ?? '') : isIP(v6) === 6
  return isAddress && Number(port) > 0 && Number(port) < 65_536
}

function refused(key: string, value: string, allowed: string): Result<never> {
  return fail(fault('config/value', { key, value, allowed }))
}
