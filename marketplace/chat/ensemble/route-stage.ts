import { ok } from '../../../consensus/primitives/result.ts'
import type { ChatState, Stage, StageContext } from '../stage.ts'
import { hasImages } from '../vision/image-parts.ts'
import { ROUTE_PROMPT } from './prompts.ts'
import { type Route, route } from './router.ts'
import { TIERS, type Tier } from './tiers.ts'

const ROUTER_TOKENS = 8
const ROUTER_MS = 3_000
const REQUEST_CHARS_MAX = 2_000

/** Decides how much work a question needs. */
export const routeStage: Stage = {
  name: 'Smart router',
  about: 'Sorts the question into one of four tiers: instant, fast, standard or deep.',
  run: async (state, context) => {
    const found = route(state.question, hasImages(state.messages))
    const asked = found.open && context.means.modelRouter ? await askForTier(state, context) : null
    const tier = asked ?? found.tier
    const by = asked === null ? 'rules' : 'model'
    return ok({ ...state, tier, facts: { ...state.facts, router: { by, rule: found.rule, task: found.task } } })
  },
}

/** By the rules, with the tier that {@link routeStage} chose, if it ran. */
export function routeOf({ question, messages, tier }: ChatState): Route {
  const found = route(question, hasImages(messages))
  return TIERS.includes(tier as Tier) ? { ...found, tier: tier as Tier } : found
}

/** Null if the stage runs. */
export function notOfTier(wanted: Tier, state: ChatState): string | null {
  const { tier } = routeOf(state)
  return tier === wanted ? null : `the ${tier} tier has no such stage`
}

/** Null if the model fails, is late or answers something else: then the rules decide. */
async function askForTier({ question }: ChatState, { desk, signal }: StageContext): Promise<Tier | null> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ROUTER_MS)])
  const answered = await desk.ask(
    {
      roles: ['fast'],
      messages: [
        { role: 'system', content: ROUTE_PROMPT },
        { role: 'user', content: JSON.stringify({ request: question.slice(0, REQUEST_CHARS_MAX).toWellFormed() }) },
      ],
      maxTokens: ROUTER_TOKENS,
      temperature: 0,
    },
    limit,
  )
  if (!answered.ok) return null
  const said = answered.value.text
    .trim()
    .toLowerCase()
    .replace(/[^a-z]+$/, '')
  return TIERS.find((tier) => tier === said) ?? null
}
