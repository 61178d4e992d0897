/** Texts as lists of sentences. Joined by spaces, they must be split into the same sentences. The splitter was tuned on these texts. */
export const TUNED_SENTENCES: readonly (readonly string[])[] = [
  [
    'The U.S. Senate voted on Sept. 4 to keep the law.',
    'It was signed by Dr. Helen Moss at 9 a.m. on Monday.',
    'The vote was close.',
  ],
  [
    'J. R. R. Tolkien wrote the book in Oxford.',
    'He sent it to his publisher in Oct. 1936.',
    'It sold well, e.g. in Britain and in the U.S.',
    'A second edition followed in 1937.',
  ],
  [
    'Take bus No. 5 to St. James Park.',
    'The fare is 2.50 pounds, i.e. about 3.2 dollars.',
    'Ask for Mr. Brown at the gate.',
  ],
  [
    'Read the notes at https://www.example.org/notes.html?x=1.',
    'They explain version 2.1.3 of the program.',
    'See Fig. 3 and p. 12 of the paper by Smith et al. for more.',
  ],
  [
    'She waited... and then she laughed about it.',
    '"Where are you going?" he asked at the door.',
    '"Home," she said.',
    'The shop closes at 6 p.m. and opens at 10 a.m. again.',
  ],
  [
    'Acme Inc. and Brown Bros. Ltd. merged in Jan. 2020.',
    'The deal was worth approx. 3.4 billion dollars.',
    'Shares vs. bonds was the question of the day.',
  ],
  [
    'The firm moved to Washington, D.C. in March.',
    'Its head, George W. Bush, stayed in Texas.',
    'The river is 1,200.5 km long.',
  ],
  ['He came back at 5 p.m.', 'She had left by then.', 'The house was dark and cold.'],
]

/** Texts that were written before the splitter was changed, and on which nothing was tuned. */
export const HELD_BACK_SENTENCES: readonly (readonly string[])[] = [
  [
    'The U.K. and the U.S. signed a treaty on Nov. 12 in Geneva.',
    'Prof. Ann Lee called it a good step.',
    'Others were not so sure.',
  ],
  [
    'C. S. Lewis and G. K. Chesterton are read in many schools.',
    'Lt. Gen. Paul Stone owns letters of both.',
    'They were sold in Feb. 2011.',
  ],
  [
    'The song reached No. 1 in Aug. 1985.',
    'Its chorus is 3.5 minutes long, incl. the solo.',
    'The band, i.e. four brothers, split up later.',
  ],
  [
    'Our office opens at 8.30 a.m. on weekdays.',
    'Write to us at help@example.com or see www.example.com/help.',
    'We answer within two days.',
  ],
  [
    'I thought... well, I thought you knew the way.',
    '"Stop right there!" shouted the guard.',
    'The two men ran up Elm St. towards the bridge.',
  ],
  [
    'Globex Corp. sued Initech Co. over a patent.',
    'In Smith vs. Jones the judge had said no.',
    'The case cost 2.75 million dollars.',
  ],
  [
    'The flight leaves at 7 p.m. on Friday.',
    'It takes approx. 11 hours, etc. is written on the ticket.',
    'Mrs. O. P. Lang sits in row 12.',
  ],
  ['He was born in the U.S.', 'His sister was born in Spain.', 'Both live in Rome today.'],
]
