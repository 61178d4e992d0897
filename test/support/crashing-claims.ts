import type { ClaimStore, StoredClaim } from '../../marketplace/till/claim-store.ts'
import type { OpenClaims } from '../../src/daemon/open-core.ts'

type Closable<C extends StoredClaim> = ClaimStore<C> & { close(): Promise<void> }

/**
 * The real claim store, in a process that kills itself (SIGKILL) right before or right after a claim reaches a state.
 * `TEST_CRASH_AT` says when: "before:claimed", "after:executing" and so on.
 */
export function crashingClaims(open: OpenClaims): OpenClaims {
  return async (path, kind) => crashing(await open(path, kind))
}

function crashing<C extends StoredClaim>(store: Closable<C>): Closable<C> {
  const [when, state] = (process.env.TEST_CRASH_AT ?? '').split(':')
  const die = (now: string, claim: C): void => {
    if (now === when && claim.state === state) process.kill(process.pid, 'SIGKILL')
  }
  return {
    ...(store.shared && { shared: store.shared }),
    get: (id) => store.get(id),
    ...(store.named && { named: (name) => store.named?.(name) ?? Promise.resolve(undefined) }),
    release: (from, id) => store.release(from, id),
    open: () => store.open(),
    recent: (limit, cursor, serviceId) => store.recent(limit, cursor, serviceId),
    handedOver: (id) => store.handedOver(id),
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
