/** The sentences of a text, and which of them a good summary may take. */
export interface LabelledSummary {
  readonly sentences: readonly string[]
  /** Sentences (from 0) that say what the text is about. The headline is one of them. */
  readonly main: readonly number[]
  /**
   * For each sentence that is unclear alone: the sentences of which at least one must be in the summary too. An empty
   * list means that no summary may have the sentence.
   */
  readonly needs: Readonly<Record<number, readonly number[]>>
}

/** Texts on which the engine was tuned. Labels come from the meaning of a text. */
export const TUNED_SUMMARIES: readonly LabelledSummary[] = [
  {
    sentences: [
      'The city council voted on Thursday to close the Elm Street bridge.',
      'It was built in 1931 and carries twelve thousand cars a day.',
      'Engineers found cracks in two of the main beams of the bridge last month.',
      'They recommend a full replacement, which would cost forty million euros.',
      'The council will decide on a new bridge in the autumn.',
      'Until then, buses and cars are sent over the Mill Road bridge.',
    ],
    main: [0, 2, 4],
    needs: { 1: [0], 3: [2], 5: [0, 4] },
  },
  {
    sentences: [
      'Honey bees tell one another where flowers are by dancing.',
      'A bee that has found a good place returns to the hive and runs in the shape of an eight.',
      'This was discovered by Karl von Frisch in the 1920s.',
      'The angle of the dance shows the direction of the flowers against the sun.',
      'The longer the bee dances, the farther away the flowers are.',
      'However, many biologists doubted for decades that other bees understand it.',
      'Radar tracking of bees settled the question in 2005.',
    ],
    main: [0, 3, 4],
    needs: { 2: [0, 1], 5: [3, 4, 0], 6: [5] },
  },
  {
    sentences: [
      'Maria Santos opened her bakery in Porto in 2015 with two ovens and one helper.',
      'She now employs thirty people and sells bread to forty restaurants.',
      'Her bread is made of old kinds of wheat that local farmers grow for the bakery.',
      'These had almost disappeared because they give a smaller harvest.',
      'The farmers get a fixed price before they sow the wheat.',
      'Santos plans to open a second bakery in Lisbon next year.',
    ],
    main: [0, 2, 5],
    needs: { 1: [0], 2: [0], 3: [2] },
  },
  {
    sentences: [
      'Farthing pays back a caller whose paid service has failed.',
      'The payment lies in escrow until the service has answered.',
      'If the deadline passes without an answer, every node refunds the payment by the rules of the chain.',
      'That needs no decision of the seller.',
      'The seller loses the fee and a part of its reputation.',
      'Therefore sellers answer only what they can finish before the deadline.',
    ],
    main: [0, 1, 2],
    needs: { 3: [2], 5: [4] },
  },
  {
    sentences: [
      'Two companies want to build the offshore wind farm near Skagen, Northwind and Vestas Marine.',
      'The former offers more turbines, the latter a lower price.',
      'The ministry of energy will choose one of the companies in May.',
      'The wind farm shall supply power for half a million homes from 2029.',
      'Fishermen in Skagen fear that the wind farm will cost them their best grounds.',
      'Some of them have gone to court.',
    ],
    main: [0, 2, 3],
    needs: { 1: [0], 5: [4] },
  },
  {
    sentences: [
      'Dr. Lin Wei of the University of Leeds has tested a vaccine against malaria on 450 children in Mali.',
      'The vaccine prevented three of four infections during the first year.',
      'In the second year its effect fell by half, so that the children needed another dose.',
      'Both doses together cost less than four dollars.',
      'He hopes that the vaccine will be licensed in 2027.',
      'Malaria killed about 600,000 people last year, most of them children under five.',
    ],
    main: [0, 1],
    needs: { 2: [0, 1], 3: [2], 4: [0] },
  },
  {
    sentences: [
      'Remote work has changed where people in the United States live.',
      'Small towns with good internet have grown faster than big cities since 2020.',
      'But house prices in small towns have risen too, and many locals can no longer afford a home.',
      'Some towns now build houses that only locals may buy.',
      'Such rules are disputed, and two of them are before the courts.',
      'Economists expect that remote work will stay at a third of all working days.',
    ],
    main: [0, 1, 5],
    needs: { 2: [1, 0], 4: [3] },
  },
  {
    sentences: [
      'The new library of Aarhus was opened by the mayor on Saturday.',
      'More than nine thousand visitors came on the first day.',
      'The library has rooms for music, cooking and repair work beside its books.',
      'For example, visitors can borrow sewing machines and drills.',
      'Critics say that the building cost too much.',
      'The mayor replied that the library will be used by every second inhabitant of Aarhus.',
      'He pointed to the old library, which was full every day.',
    ],
    main: [0, 2],
    needs: { 1: [0], 3: [2], 4: [0, 2], 6: [5] },
  },
]

/** Texts that were written before the engine was changed, and on which nothing was tuned. */
export const HELD_BACK_SUMMARIES: readonly LabelledSummary[] = [
  {
    sentences: [
      'The glaciers of the Alps lost a tenth of their ice in only two years.',
      'That is as much as between 1960 and 1990.',
      'Hot summers and little snow in winter are the reasons, Swiss researchers report.',
      'They measure twenty glaciers with stakes, drones and satellites.',
      'Without the ice, rivers such as the Rhine and the Rhone carry less water in late summer.',
      'Consequently power stations on these rivers may have to run at lower output.',
      'Even if warming stops at 1.5 degrees, half of the ice of the Alps will melt.',
    ],
    main: [0, 2, 4, 6],
    needs: { 1: [0], 3: [2], 5: [4] },
  },
  {
    sentences: [
      'Kofi Mensah repairs old sewing machines in a container in Accra.',
      'He learned the trade from his aunt, who sewed school uniforms.',
      'A new machine costs more than most tailors of Accra earn in three months.',
      'Mensah sells repaired machines for a fifth of that price and lets tailors pay by the week.',
      'Nearly all of them have paid in full.',
      'A bank has offered Mensah a loan to open workshops in Kumasi and Tamale.',
      'It would be the first loan of its kind for a repair business in Ghana.',
    ],
    main: [0, 3, 5],
    needs: { 1: [0], 3: [2], 4: [3], 6: [5] },
  },
  {
    sentences: [
      'A bug in the payment module charged some customers twice between March 3 and March 5.',
      'We found 312 double charges and have returned the money to every customer.',
      'The bug came in with a change that retried a payment when the bank answered late.',
      'In such cases the first payment had often gone through.',
      'This is why we now give every payment a number that the bank accepts only once.',
      'The payment module is also watched by a job that compares charges with orders every hour.',
    ],
    main: [0, 1, 2],
    needs: { 3: [2], 4: [2] },
  },
  {
    sentences: [
      'Coffee farmers in Colombia plant banana trees between their coffee bushes again.',
      'The shade of the trees keeps the soil wet and the coffee bushes cool.',
      'Furthermore, the bananas can be sold when the coffee harvest is bad.',
      'Farms with shade trees lost only a tenth of their harvest in the drought of 2023.',
      'Those without shade lost nearly half.',
      'The growers association pays for young trees, and twelve thousand farmers have asked for them.',
    ],
    main: [0, 1, 3],
    needs: { 1: [0], 2: [0, 1], 4: [3] },
  },
]
