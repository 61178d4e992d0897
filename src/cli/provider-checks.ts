import type { Config } from '../../config/settings.ts'
import { ok, type Result } from '../../consensus/primitives/result.ts'
import { openOutside } from '../adapters/open-outside.ts'
import type { ProviderCheck } from '../adapters/providers/provider.ts'
import type { Stop } from '../daemon/open-core.ts'
import { systemClock, systemTimers } from '../daemon/runtime.ts'

/** Sends every configured provider the cheapest question that shows whether it works. */
export async function checkProviders({
  outside: config,
  rpc,
  chat,
}: Config): Promise<Result<readonly ProviderCheck[]>> {
  const stops: Stop[] = []
  const { publicUrl } = rpc
  const { espeak } = chat
  try {
    // No background checks: a provider that allows one question a second would refuse the second one and seem broken.
    const parts = { config, publicUrl, espeak, isWatching: false, clock: systemClock, timers: systemTimers }
    const outside = await openOutside(parts, stops)
    if (!outside.ok) return outside
    return ok((await Promise.all(outside.value.checkable.map((one) => one.checkAll()))).flat())
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}
