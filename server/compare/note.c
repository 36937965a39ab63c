/* Notes of a comparison. */
#include "server/compare/internal.h"

int compare_say(struct compare_note *notes, size_t *count, const char *field, const char *base, const char *head,
                const char *sentence)
{
    if (base == NULL || head == NULL || sentence == NULL)
        return -1;
    notes[(*count)++] = (struct compare_note){field, base, head, sentence};
    return 0;
}
