import { withModes } from '../modes.ts'
import type { Pipeline } from '../stage.ts'
import { critic } from '../stages/critic.ts'
import { executor } from '../stages/executor.ts'
import { optimizer } from '../stages/optimizer.ts'
import { planner } from '../stages/planner.ts'
import { qualityEvaluator } from '../stages/quality-evaluator.ts'
import { researcher } from '../stages/researcher.ts'
import { reviewer } from '../stages/reviewer.ts'
import { fullOnly, router } from '../stages/router.ts'
import { synthesizer } from '../stages/synthesizer.ts'
import { validator } from '../stages/validator.ts'

/**
 * Tuned for code. For short questions without a sign of work, only planner, executor and evaluator follow the router,
 * and the evaluator may revise the answer. Otherwise the reviewer rewrites it.
 */
export const MODEL_3: Pipeline = {
  name: 'ten stages',
  enter: withModes('model-3'),
  stages: [
    router,
    fullOnly(researcher),
    planner({ roles: ['reason', 'code'] }),
    executor({ roles: ['code', 'general'], forCode: true }),
    fullOnly(synthesizer),
    fullOnly(critic),
    fullOnly(optimizer),
    fullOnly(validator),
    qualityEvaluator(({ tier }) => tier === 'fast'),
    fullOnly(reviewer),
  ],
}
