import { setInterval } from 'node:timers'
import type { HostOptions } from '../../src/p2p/host/host.ts'
import { Reputation } from '../../src/p2p/peers/peers.ts'
import { PROTOCOLS } from '../../src/p2p/wire/protocols.ts'
import { startVictim } from './hosts.ts'

/** What a host in a process of its own reports. */
export interface HostReport {
  readonly address: string
  readonly peers: readonly string[]
  readonly offences: readonly string[]
  readonly warnings: readonly string[]
  /** Bytes on and off the heap after a collection: now, and the most since the last report. */
  readonly bytes: number
  readonly bytesMax: number
  /** Processor time of the main thread since the start, milliseconds. */
  readonly mainMs: number
}

const SAMPLE_MS = 200
const clock = { now: () => Math.round(performance.now()) }
const reputation = new Reputation(clock)
const offences: string[] = []
const options = JSON.parse(process.argv[2] ?? '{}') as Partial<HostOptions>
const { host, warnings } = await startVictim((peer, offence, about) => {
  offences.push(`${peer} ${offence} ${about}`)
  const consequence = reputation.add(peer, offence)
  if (consequence !== 'none') host.disconnect(peer, offence, consequence === 'ban')
}, options)

let bytesMax = 0
function collect(): void {
  // V8 frees some memory on another thread after a collection. The second collection waits for that.
  globalThis.gc?.()
  globalThis.gc?.()
}
function used(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  bytesMax = Math.max(bytesMax, heapUsed + external)
  return heapUsed + external
}

function mainMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

setInterval(used, SAMPLE_MS)
process.on('message', () => {
  const bytes = used()
  const report: HostReport = {
    address: host.addresses()[0] as string,
    peers: host.peers().map(({ id }) => id),
    offences,
    warnings,
    bytes,
    bytesMax,
    mainMs: mainMs(),
  }
  bytesMax = 0
  process.send?.(report)
})
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: PROTOCOLS.status.replyMax })
