import { withModes } from '../modes.ts'
import type { Pipeline } from '../stage.ts'
import { executor } from '../stages/executor.ts'
import { planner } from '../stages/planner.ts'
import { qualityEvaluator } from '../stages/quality-evaluator.ts'

/** There is at most one revision. */
export const MODEL_2: Pipeline = {
  name: 'three stages',
  enter: withModes('model-2'),
  stages: [
    planner({ roles: ['general', 'reason'] }),
    executor({ roles: ['general'], forCode: false }),
    qualityEvaluator(() => true),
  ],
}
