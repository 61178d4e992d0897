import { Compile } from 'typebox/compile'
import { type Fault, fault } from '../../consensus/primitives/fault.ts'
import { fail, ok, type Result } from '../../consensus/primitives/result.ts'
import { encodeText } from '../../consensus/primitives/text.ts'
import type { ServiceContext } from '../services/context.ts'
import type { ServiceDefinition } from '../services/service.ts'

type Checker = { Check(value: unknown): boolean }
const CHECKERS = new WeakMap<object, Checker>()

/**
 * Runs a service under its deadline and checks what comes back against its schema and size. The result is JSON text, as
 * it will be stored, hashed and sent. Whatever goes wrong is a fault that means: refund.
 */
export async function runService(
  definition: ServiceDefinition,
  input: unknown,
  context: ServiceContext,
): Promise<Result<string>> {
  const { serviceId, timeoutMs } = definition
  const deadline = AbortSignal.timeout(timeoutMs)
  const expired = new Promise<'expired'>((resolve) => {
    deadline.addEventListener('abort', () => resolve('expired'), { once: true })
  })
  try {
    const result = await Promise.race([
      Promise.resolve().then(() => definition.execute(input, context, deadline)),
      expired,
    ])
    if (result === 'expired') return fail(fault('service/timeout', { serviceId, timeoutMs }))
    return checkResult(definition, result)
  } catch (error) {
    const late = deadline.aborted
    return fail(late ? fault('service/timeout', { serviceId, timeoutMs }) : failure(serviceId, error))
  }
}

function failure(serviceId: string, error: unknown): Fault {
  const reason = error instanceof Error ? error.message : 'unknown cause'
  return fault('service/failed', { serviceId, reason: reason.slice(0, 200) })
}

function checkResult(definition: ServiceDefinition, result: unknown): Result<string> {
  const { serviceId, resultSchema, resultBytesMax } = definition
  let checker = CHECKERS.get(resultSchema)
  if (checker === undefined) {
    checker = Compile(resultSchema) as Checker
    CHECKERS.set(resultSchema, checker)
  }
  if (!checker.Check(result))
    return fail(fault('service/bad-result', { serviceId, reason: 'it does not have the promised shape' }))
  const json = JSON.stringify(result)
  const bytes = encodeText(json).length
  if (bytes <= resultBytesMax) return ok(json)
  return fail(fault('service/bad-result', { serviceId, reason: `${bytes} bytes exceed ${resultBytesMax}` }))
}
