import { ok } from '../../../consensus/primitives/result.ts'
import type { Pipeline, Stage } from '../stage.ts'

const answer: Stage = {
  name: 'Answer',
  about: 'One direct call to a small fast model.',
  makesText: true,
  isEssential: true,
  run: async (state, { call, desk, say }) => {
    const { maxTokens, temperature } = call
    const answered = await desk.ask({
      roles: ['fast'],
      messages: state.messages,
      maxTokens,
      ...(temperature !== null && { temperature }),
      sink: say,
    })
    if (!answered.ok) return answered
    const { text, finishReason } = answered.value
    return ok({ ...state, text, finishReason })
  },
}

/** model-1: one stage. */
export const MODEL_1: Pipeline = { name: 'direct', stages: [answer] }
