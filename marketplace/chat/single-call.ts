import { ok, type Result } from '../../consensus/primitives/result.ts'
import type { ModelSupport } from '../models/backend.ts'
import type { ModelRole } from '../outside/models.ts'
import type { ChatCall, ChatOutcome, ChatSink } from './call.ts'
import type { StageContext } from './stage.ts'

const ROLES: Readonly<Record<ChatCall['model'], readonly ModelRole[]>> = {
  'model-1': ['fast'],
  'model-2': ['general'],
  'model-3': ['code', 'general'],
  'model-4': ['general', 'reason'],
}

/** Has a chat answered by one model, everything passed on as it is: model-1, and whatever uses tools. */
export async function runSingleCall(
  call: ChatCall,
  { desk, means }: Omit<StageContext, 'say'>,
  sink: ChatSink | null,
): Promise<Result<ChatOutcome>> {
  const { model, messages, maxTokens, temperature, extra, usesTools, form } = call
  const needs: readonly ModelSupport[] = usesTools ? ['tools'] : []
  const beganMs = means.clock.now()
  const answered = await desk.ask({
    roles: ROLES[model],
    needs,
    messages,
    maxTokens,
    ...(temperature !== null && { temperature }),
    ...(form.is === 'schema' && { jsonSchema: form.schema }),
    extra,
    sink: sink === null ? null : (delta) => sink.take({ index: 0, delta }),
  })
  if (!answered.ok) return answered
  const { message, finishReason } = answered.value
  const stage = { stage: 'Answer', ran: true, models: desk.answered(), ms: Math.round(means.clock.now() - beganMs) }
  return ok({
    choices: [{ message, finishReason, logprobs: null }],
    usage: desk.usage,
    report: {
      model,
      pipeline: usesTools ? 'tools' : 'direct',
      stages: [stage],
      grounded: false,
      citations: [],
      usageEstimated: desk.usage.estimated,
    },
  })
}
