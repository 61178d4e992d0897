import { fault } from '../../../consensus/primitives/fault.ts'
import { fail } from '../../../consensus/primitives/result.ts'
import type { Provider } from './provider.ts'

/** A configured provider that lacks something. It is listed, and never asked. */
export function unusable<Query, Value>(name: string, what: string, reason: string): Provider<Query, Value> {
  const refused = async () => fail(fault('provider/none', { what, reason }))
  return { name, lacks: reason, ask: refused, check: refused }
}
