import type { ChatModelId } from '../call.ts'
import type { Pipeline } from '../stage.ts'
import { MODEL_1 } from './model-1.ts'
import { MODEL_2 } from './model-2.ts'
import { MODEL_3 } from './model-3.ts'
import { MODEL_4 } from './model-4.ts'

/** The pipeline of each model. */
export const PIPELINES: Readonly<Record<ChatModelId, Pipeline>> = {
  'model-1': MODEL_1,
  'model-2': MODEL_2,
  'model-3': MODEL_3,
  'model-4': MODEL_4,
}
