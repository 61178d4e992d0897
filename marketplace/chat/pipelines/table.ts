import type { ChatModelId } from '../call.ts'
import type { Pipeline } from '../stage.ts'
import { MODEL_1 } from './single.ts'

/** The list of stages that each model works through. */
export const PIPELINES: Readonly<Record<ChatModelId, Pipeline>> = {
  'model-1': MODEL_1,
  'model-2': MODEL_1,
  'model-3': MODEL_1,
  'model-4': MODEL_1,
}
