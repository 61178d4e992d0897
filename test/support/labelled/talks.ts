import type { LabelledSubjects } from './subjects.ts'

/** Dialogues and texts whose sentences begin with small words. `never` are words that are no keywords, names or topics. */
export interface LabelledTalk extends LabelledSubjects {
  readonly never: readonly string[]
}

/** Texts on which the engine was tuned. */
export const TUNED_TALKS: readonly LabelledTalk[] = [
  {
    text: `Anna: Did you book the train to York? That was on your list.
Ben: Yes, the night train from King's Cross. The tickets were forty pounds.
Anna: That is cheap. Did the tickets come with a bed?
Ben: No, a seat. The sleeping car of the night train was full.
Anna: Then bring a pillow to King's Cross.`,
    keywords: [
      'night train',
      'train',
      "king's cross",
      'york',
      'ticket',
      'sleeping car',
      'pillow',
      'seat',
      'bed',
      'list',
    ],
    names: ["King's Cross", 'York'],
    never: ['anna', 'ben', 'did', 'that', 'cross', 'king'],
  },
  {
    text: `BOB: The server room is too hot again. Did the cooling fail?
CAROL: The cooling pump stopped at noon. That pump is ten years old.
BOB: Order a new pump, then. Is there a spare fan?
CAROL: There are two spare fans in the server room.`,
    keywords: ['server room', 'cooling pump', 'pump', 'cooling', 'spare fan', 'fan', 'noon', 'new pump'],
    names: [],
    never: ['bob', 'carol', 'did', 'that'],
  },
]

/** Texts that were written before the engine was changed, and on which nothing was tuned. */
export const HELD_BACK_TALKS: readonly LabelledTalk[] = [
  {
    text: `Customer: My broadband has been down since Tuesday. Does the outage affect all of Leith?
Agent: Yes, a cable was cut near St John's Wood Road. Our engineers repair the cable tonight.
Customer: Will I get a refund for the outage?
Agent: That depends. Did you report the outage online?
Customer: I reported it on Tuesday.`,
    keywords: [
      'broadband',
      'outage',
      'leith',
      'cable',
      'engineer',
      'refund',
      "st john's wood road",
      'customer',
      'online',
    ],
    names: ['Leith', "St John's Wood Road"],
    never: ['agent', 'did', 'that', 'does', 'will'],
  },
  {
    text: `MARTA: Have we got enough yarn for the blue blankets?
OLE: Enough yarn, yes, but the loom is broken.
MARTA: Was that the new loom from Bergen?
OLE: No, the old loom. Those blankets must wait, the fair in Bergen is in May.`,
    keywords: ['yarn', 'enough yarn', 'blue blanket', 'blanket', 'loom', 'new loom', 'old loom', 'bergen', 'fair'],
    names: ['Bergen'],
    never: ['marta', 'ole', 'have', 'was', 'those'],
  },
  {
    text: `That was the year when Earl's Court opened its second hall. Did visitors notice? Hardly. These halls looked alike, and Earl's Court gave no tours. Does the second hall still stand? It was torn down, like Queen's Theatre next door. Were there protests? Some protests, yes.`,
    keywords: ["earl's court", 'second hall', 'hall', "queen's theatre", 'visitor', 'tour', 'protest'],
    names: ["Earl's Court", "Queen's Theatre"],
    never: ['that', 'did', 'these', 'does', 'were', 'court', 'hardly'],
  },
]
