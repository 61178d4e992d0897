import type { ClaimKind, ClaimStore, StoredClaim } from '../../marketplace/checkout/claim-store.ts'
import { LevelClaimStore } from '../../src/storage/level-claims.ts'

/**
 * The real claim store in a process that dies by SIGKILL right before or right after a claim reaches a state, as
 * `TEST_CRASH_AT` says: "before:claimed", "after:executing" and so on.
 */
export async function openCrashingClaims<C extends StoredClaim>(
  path: string,
  kind: ClaimKind<C>,
): Promise<ClaimStore<C> & { close(): Promise<void> }> {
  const store = await LevelClaimStore.open(path, kind)
  const [when, state] = (process.env.TEST_CRASH_AT ?? '').split(':')
  const die = (now: string, claim: C): void => {
    if (now === when && claim.state === state) process.kill(process.pid, 'SIGKILL')
  }
  return {
    get: (id) => store.get(id),
    release: (from, id) => store.release(from, id),
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
