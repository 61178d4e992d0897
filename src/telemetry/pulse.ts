import type { Timers } from '../../consensus/chain/ports.ts'
import type { NodeApi } from '../../rpc/node/node-api.ts'
import type { Stop } from '../daemon/open-core.ts'
import type { Logger } from './logger.ts'

/** What the regular log line is made of. */
export interface PulseParts {
  readonly logger: Logger
  readonly timers: Timers
  readonly node: Pick<NodeApi, 'chain' | 'mempool' | 'peerCount' | 'notReadyBecause'>
  /** Blocks found since the start by this node or by external miners with its work. */
  readonly mined: () => number
  /** Whether the node is behind the network. Then the synchroniser logs the progress instead. */
  readonly behind: () => boolean
}

const PULSE_MS = 60_000

/** Logs one line a minute, unless the node is behind. */
export function startPulse({ logger, timers, node, mined, behind }: PulseParts): Stop {
  const standing = () => ({ height: node.chain.head.header.height, mined: mined() })
  let last = standing()
  let cancel = (): void => {}
  const beat = (): void => {
    cancel = timers.after(PULSE_MS, beat)
    const now = standing()
    const since = { newBlocks: now.height - last.height, minedHere: now.mined - last.mined }
    last = now
    if (behind()) return
    const facts = { height: now.height, ...since, peers: node.peerCount(), waitingTransactions: node.mempool.count }
    const reasons = node.notReadyBecause()
    if (reasons.length === 0) logger.info(facts, 'running')
    else logger.warn({ ...facts, reasons }, 'not ready')
  }
  cancel = timers.after(PULSE_MS, beat)
  return () => cancel()
}
