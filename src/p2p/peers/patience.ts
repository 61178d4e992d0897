import type { Timers } from '../../../consensus/chain/ports.ts'
import type { Fault } from '../../../consensus/primitives/fault.ts'
import type { Result } from '../../../consensus/primitives/result.ts'
import type { PeerId } from '../network.ts'
import type { ReplyOf, RequestOf } from '../wire/messages.ts'
import type { ProtocolName } from '../wire/protocols.ts'
import type { Peers } from './peers.ts'

const BUSY_MS = 500

/** Whether a peer would answer, but not at the moment. */
export function isBusy({ code, detail }: Fault): boolean {
  return code === 'p2p/refused' && detail.reason === 'busy'
}

/** What patient asking works with. */
export interface Patience {
  readonly peers: Pick<Peers, 'exchange'>
  readonly timers: Timers
  readonly times: number
}

/** Asks a peer, and again while it says that it is busy, `times` times at most. */
export async function askPatiently<P extends ProtocolName>(
  { peers, timers, times }: Patience,
  ...[peer, protocol, request]: [PeerId, P, RequestOf<P>]
): Promise<Result<ReplyOf<P>>> {
  for (let asked = 1; ; asked++) {
    const reply = await peers.exchange.ask(peer, protocol, request)
    if (reply.ok || !isBusy(reply.fault) || asked >= times) return reply
    await new Promise<void>((resolve) => void timers.after(BUSY_MS, resolve))
  }
}

/**
 * Milliseconds waited for a peer that its answers have not made up for; below zero if more was given, down to a bound. A deadline for each
 * answer would not do: each may come just in time and hold next to nothing.
 */
export class Owed {
  ms = 0
  readonly #spareMs: number

  constructor(spareMs: number) {
    this.#spareMs = spareMs
  }

  note(waitedMs: number, worthMs: number): void {
    this.ms = Math.max(-this.#spareMs, this.ms + waitedMs - worthMs)
  }
}
