import type { Claim } from '../../marketplace/checkout/claim.ts'
import type { ClaimStore } from '../../marketplace/checkout/claim-store.ts'
import { LevelClaimStore } from '../../src/storage/level-claims.ts'

/**
 * The real claim store in a process that dies by SIGKILL right before or right after a claim reaches a state, as
 * `TEST_CRASH_AT` says: "before:claimed", "after:executing" and so on.
 */
export async function openCrashingClaims(path: string): Promise<ClaimStore & { close(): Promise<void> }> {
  const store = await LevelClaimStore.open(path)
  const [when, state] = (process.env.TEST_CRASH_AT ?? '').split(':')
  const die = (now: string, claim: Claim): void => {
    if (now === when && claim.state === state) process.kill(process.pid, 'SIGKILL')
  }
  return {
    get: (txId) => store.get(txId),
    open: () => store.open(),
    recent: (limit, cursor) => store.recent(limit, cursor),
    pruneResults: (beforeMs, bytesMax) => store.pruneResults(beforeMs, bytesMax),
    close: () => store.close(),
    claim: async (claim) => {
      die('before', claim)
      const known = await store.claim(claim)
      if (known === null) die('after', claim)
      return known
    },
    advance: async (from, next) => {
      die('before', next)
      const moved = await store.advance(from, next)
      if (moved) die('after', next)
      return moved
    },
  }
}
