/** How the message begins that a model is shown in place of what was compacted. */
export const summaryLead = 'The conversation so far was summarised to save room. Summary:';
export const isSummary = (text: string): boolean => text.startsWith(summaryLead);
