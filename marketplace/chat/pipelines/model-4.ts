import { compressStage } from '../ensemble/compress-stage.ts'
import { draftStage } from '../ensemble/draft-stage.ts'
import { codeStage, polishStage, synthesisStage } from '../ensemble/refine-stages.ts'
import { routeStage } from '../ensemble/route-stage.ts'
import { searchStage } from '../ensemble/search-stage.ts'
import { voteStage } from '../ensemble/vote-stage.ts'
import type { Pipeline } from '../stage.ts'

/** Each tier uses a part of the stages. */
export const MODEL_4: Pipeline = {
  name: 'ensemble',
  stages: [routeStage, compressStage, searchStage, draftStage, synthesisStage, codeStage, polishStage, voteStage],
}
