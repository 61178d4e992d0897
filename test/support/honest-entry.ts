import { setTimeout } from 'node:timers/promises'
import { startHost } from './hosts.ts'

/** What an honest host in a process of its own reports. */
export interface HonestReport {
  readonly id: string
  /** Requests that were answered as they should be. */
  readonly served: number
  /** The first answer that was wrong or missing; null while each was right. No more is asked after it. */
  readonly wrong: string | null
}

const EVERY_MS = 20
const address = process.argv[2] as string
const host = await startHost()
const dialled = await host.dial(address)
if (!dialled.ok) throw new Error(`${dialled.fault.code} ${JSON.stringify(dialled.fault.detail)}`)

let served = 0
let wrong: string | null = null
process.on('message', () => process.send?.({ id: host.self, served, wrong } satisfies HonestReport))
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })

// A victim answers a status request with the bytes of the request.
for (; wrong === null; await setTimeout(EVERY_MS)) {
  const answer = await host.request(dialled.value, 'status', Uint8Array.of(1, 2))
  if (answer.ok && Buffer.from(answer.value).equals(Buffer.of(1, 2))) served += 1
  else wrong = JSON.stringify(answer)
}
