import { createInlineWorkVerifier } from '../../consensus/block/pow.ts'
import type { Chain } from '../../consensus/chain/chain.ts'
import { UNPACED } from '../../consensus/chain/ports.ts'
import type { Mempool } from '../../mempool/mempool.ts'
import { RemoteWork, type RemoteWorkDependencies } from '../../miner/remote-work.ts'
import { nativePowHasher } from '../../src/crypto/native-pow.ts'
import { systemClock, systemTimers } from '../../src/daemon/runtime.ts'

/** The `extra` field of headers in a test's remote work. */
export const REMOTE_EXTRA = new Uint8Array(32).fill(0x43)

/** Work for external miners in this process. Unexpected errors are thrown. */
export function testRemoteWork(
  parts: Partial<RemoteWorkDependencies> & { readonly chain: Chain; readonly mempool: Mempool },
): RemoteWork {
  return new RemoteWork({
    verifier: createInlineWorkVerifier(nativePowHasher),
    clock: systemClock,
    pacer: UNPACED,
    timers: systemTimers,
    extra: REMOTE_EXTRA,
    notReadyBecause: () => [],
    onMined: () => {},
    onRefused: () => {},
    onFatal: (error) => {
      throw error
    },
    ...parts,
  })
}
