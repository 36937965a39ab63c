/* Whether rows of one name are the same work, and values of one kind. Rules: server/compare/compare.h, WORK and ROWS.
 */
#include <inttypes.h>
#include <string.h>

#include "db/same/work.h"
#include "gpu/base/num.h"
#include "server/compare/internal.h"

/* ---- the members of work ---- */

static const struct {
    const char *field, *is, *unit;
} members[WORK_MEMBERS] = {
    {"flop", "a launch has", " flop"}, {"ask_bytes", "a launch asks for", " bytes"}, {"dims", "the dims are", ""}};

static const char *value_words(const struct store_work *work, enum work_member member, struct rl_arena *arena)
{
    if (member == WORK_DIMS)
        return work->dims;
    return rl_arena_printf(arena, "%" PRId64 "%s", member == WORK_FLOP ? work->flop : work->ask_bytes,
                           members[member].unit);
}

static enum work_member first_difference(const struct store_work *a, const struct store_work *b)
{
    enum work_member member = WORK_FLOP;
    while (member < WORK_DIMS && !work_differs_in(a, b, member))
        member++;
    return member;
}

/* ---- within a side ---- */

static void learn(struct draws *side, const struct store_work *work, const struct compare_launch *launch)
{
    work_learn(&side->work, work);
    const char **known[] = {&side->launch.grid, &side->launch.block, &side->launch.function, &side->launch.shape};
    const char *const its[] = {launch->grid, launch->block, launch->function, launch->shape};
    for (size_t i = 0; i < sizeof its / sizeof its[0]; i++) {
        side->launch_differs = side->launch_differs || work_texts_differ(*known[i], its[i]);
        if (*known[i] == NULL)
            *known[i] = its[i];
    }
}

int compare_take_work(struct draws *side, const struct compare_run *run, const struct store_work *work,
                      const struct compare_launch *launch, struct rl_arena *arena)
{
    if (side->model == NULL) {
        side->model = run;
        side->work = *work;
    }
    if (!work_is_other(&side->work, work)) {
        learn(side, work, launch);
        return 1;
    }
    if (side->other_work++ > 0)
        return 0;
    enum work_member member = first_difference(work, &side->work);
    const char *mine = value_words(work, member, arena), *its = value_words(&side->work, member, arena);
    if (mine == NULL || its == NULL)
        return -1;
    side->other_why = rl_arena_printf(arena, "%s %s in run %s and %s in run %s, the newest of this side with the row",
                                      members[member].is, mine, run->id, its, side->model->id);
    return side->other_why == NULL ? -1 : 0;
}

/* ---- what a row says beside its verdicts ---- */

static void drop(struct compare_notes *notes, bool head, const char *of, size_t draws, const char *reason)
{
    if (draws > 0)
        notes->left_out[notes->left_out_count++] = (struct compare_dropped){head, of, draws, reason};
}

static int apart(struct compare_notes *notes, const char *field, const char *base, const char *head,
                 const char *sentence)
{
    if (base == NULL || head == NULL || sentence == NULL)
        return -1;
    notes->not_comparable[notes->not_comparable_count++] = (struct compare_note){field, base, head, sentence};
    return 0;
}

static int part_work(struct subject *subject, struct rl_arena *arena)
{
    const struct draws *base = &subject->base, *head = &subject->head;
    drop(&subject->notes, false, "row", base->other_work, base->other_why);
    drop(&subject->notes, true, "row", head->other_work, head->other_why);
    if (base->model == NULL || head->model == NULL || !work_is_other(&base->work, &head->work))
        return 0;
    subject->time_apart = subject->bytes_apart = true;
    for (enum work_member member = WORK_FLOP; member < WORK_MEMBERS; member++) {
        if (!work_differs_in(&base->work, &head->work, member))
            continue;
        const char *left = value_words(&base->work, member, arena), *right = value_words(&head->work, member, arena);
        if (left == NULL || right == NULL ||
            apart(&subject->notes, members[member].field, left, right,
                  rl_arena_printf(arena, "It is other work: %s %s in base and %s in head.", members[member].is, left,
                                  right)) != 0)
            return -1;
    }
    return 0;
}

/* ---- values of two kinds ---- */

static unsigned flags_at(const struct draws *side, bool bytes, size_t i)
{
    return bytes ? side->bytes_flags[i] : side->draw[i] != NULL ? side->draw[i]->flags : 0;
}

static size_t count_flagged(const struct draws *side, bool bytes, unsigned flag)
{
    size_t count = 0;
    for (size_t i = 0; i < (bytes ? side->bytes_n : side->n); i++)
        count += (flags_at(side, bytes, i) & flag) != 0;
    return count;
}

static void drop_flagged(struct draws *side, bool bytes, unsigned flag)
{
    size_t kept = 0;
    for (size_t i = 0; i < (bytes ? side->bytes_n : side->n); i++) {
        if (flags_at(side, bytes, i) & flag)
            continue;
        if (bytes) {
            side->bytes[kept] = side->bytes[i];
            side->bytes_flags[kept++] = side->bytes_flags[i];
        } else {
            side->log_time[kept] = side->log_time[i];
            side->draw[kept++] = side->draw[i];
        }
    }
    *(bytes ? &side->bytes_n : &side->n) = kept;
}

struct kind { /* of values that are not held against the others */
    unsigned flag;
    bool bytes;
    const char *field;          /* NULL: a side that has these alone has none */
    const char *these, *others; /* "It has … in base and … in head" */
    const char *reason;         /* why such a draw is left out */
};
static const struct kind kinds[] = {
    {RL_ROW_PROFILER_TIME, false, "profiler_time", "a profiler's durations", "times of events",
     "its time is a profiler's duration, which is not held against times of events"},
    {RL_ROW_SINGLE_LAUNCH, true, NULL, NULL, NULL,
     "its bytes are of single launches, which are not held against those of a loop"},
    {RL_ROW_BYTES_DERIVED, true, "bytes_derived", "bytes that are a rate times a duration", "counted bytes",
     "its bytes are a rate times a duration, which is not held against counted ones"},
};

static int say_apart(struct subject *subject, const struct kind *kind, bool base_has_these, struct rl_arena *arena)
{
    const char *left = base_has_these ? kind->these : kind->others;
    const char *right = base_has_these ? kind->others : kind->these;
    *(kind->bytes ? &subject->bytes_apart : &subject->time_apart) = true;
    return apart(&subject->notes, kind->field, left, right,
                 rl_arena_printf(arena, "Base has %s and head %s.", left, right));
}

static int part_kind(struct subject *subject, const struct kind *kind, struct rl_arena *arena)
{
    struct draws *sides[2] = {&subject->base, &subject->head};
    size_t these[2], all[2];
    for (size_t s = 0; s < 2; s++) {
        these[s] = count_flagged(sides[s], kind->bytes, kind->flag);
        all[s] = kind->bytes ? sides[s]->bytes_n : sides[s]->n;
    }
    if (these[0] + these[1] == 0 || these[0] + these[1] == all[0] + all[1])
        return 0;
    for (size_t s = 0; s < 2; s++) {
        if (these[s] == 0)
            continue;
        /* a side of these alone keeps them to be shown where they have a verdict of their own */
        if (these[s] == all[s] && kind->field != NULL) {
            if (say_apart(subject, kind, s == 0, arena) != 0)
                return -1;
            continue;
        }
        drop_flagged(sides[s], kind->bytes, kind->flag);
        if (these[s] < all[s])
            drop(&subject->notes, s == 1, kind->bytes ? "bytes" : "time", these[s], kind->reason);
        else
            sides[s]->bytes_why = "they are of single launches, and those of the other side of a loop";
    }
    return 0;
}

int compare_part(struct subject *subject, bool ceiling, struct rl_arena *arena)
{
    if (part_work(subject, arena) != 0)
        return -1;
    for (size_t i = 0; !ceiling && i < sizeof kinds / sizeof kinds[0]; i++)
        if (part_kind(subject, &kinds[i], arena) != 0)
            return -1;
    return 0;
}

const char *compare_with_left_out(const char *sentence, const struct compare_notes *notes, const char *of,
                                  struct rl_arena *arena)
{
    for (size_t i = 0; sentence != NULL && i < notes->left_out_count; i++) {
        const struct compare_dropped *dropped = &notes->left_out[i];
        if (strcmp(dropped->of, "row") == 0 || strcmp(dropped->of, of) == 0)
            sentence = rl_arena_printf(arena, "%s Left out: %zu draw%s of %s; %s.", sentence, dropped->draws,
                                       rl_plural(dropped->draws), dropped->head ? "head" : "base", dropped->reason);
    }
    return sentence;
}

/* ---- warnings ---- */

struct told { /* rows that a warning is about */
    size_t count;
    struct compare_named named;
    const struct subject *first;
};

static void tell(struct told *told, const struct subject *subject)
{
    if (told->count++ == 0)
        told->first = subject;
    compare_name(&told->named, subject->name, subject->state);
}

static bool is_launched_otherwise(const struct subject *subject)
{
    const struct compare_launch *base = &subject->base.launch, *head = &subject->head.launch;
    return subject->base.launch_differs || subject->head.launch_differs || work_texts_differ(base->grid, head->grid) ||
           work_texts_differ(base->block, head->block) || work_texts_differ(base->function, head->function) ||
           work_texts_differ(base->shape, head->shape);
}

static bool is_half_known(const struct store_work *base, const struct store_work *head)
{
    bool any = false, one = false;
    for (enum work_member member = WORK_FLOP; member < WORK_MEMBERS; member++) {
        any = any || (work_knows(base, member) && work_knows(head, member));
        one = one || work_knows(base, member) != work_knows(head, member);
    }
    return one || !any;
}

static void look(const struct gathered *all, struct told *launched, struct told *half)
{
    for (size_t i = 0; i < all->count; i++) {
        const struct subject *subject = &all->items[i];
        if (subject->base.model == NULL || subject->head.model == NULL ||
            work_is_other(&subject->base.work, &subject->head.work))
            continue;
        if (is_launched_otherwise(subject))
            tell(launched, subject);
        if (is_half_known(&subject->base.work, &subject->head.work))
            tell(half, subject);
    }
}

/* "grid 4096 x 1 x 1, block 256 x 1 x 1, function f", as far as it is known */
static const char *launch_words(const struct compare_launch *launch, struct rl_arena *arena)
{
    char name[COMPARE_NAME_SHOWN];
    const char *const titles[] = {"grid ", "block ", "function ", ""};
    const char *const values[] = {launch->grid, launch->block, launch->function, launch->shape};
    const char *text = "";
    for (size_t i = 0; text != NULL && i < sizeof values / sizeof values[0]; i++)
        if (values[i] != NULL)
            text = rl_arena_printf(arena, "%s%s%s%s", text, text[0] == '\0' ? "" : ", ", titles[i],
                                   compare_short_name(values[i], name));
    return text != NULL && text[0] == '\0' ? "not known" : text;
}

static int warn(struct compare_result *result, const char *field, const struct told *told, const char *base,
                const char *head, const char *meaning)
{
    const char *rows = compare_named_words(&told->named, result->arena);
    if (rows == NULL)
        return -1;
    return compare_say(
        result->warnings, &result->warning_count, field, base, head,
        rl_arena_printf(result->arena, "%zu row%s (%s) %s", told->count, rl_plural(told->count), rows, meaning));
}

int compare_work_warnings(const struct gathered *rows, const struct gathered *ceilings, struct compare_result *result)
{
    struct told launched = {.count = 0}, half = {.count = 0};
    look(rows, &launched, &half);
    look(ceilings, &launched, &half);
    if (launched.count > 0) {
        const struct subject *first = launched.first;
        if (warn(result, "launch_differs", &launched, launch_words(&first->base.launch, result->arena),
                 launch_words(&first->head.launch, result->arena),
                 launched.count == 1
                     ? "was not launched in the same way in all runs; its work is the same, and so it is judged."
                     : "were not launched in the same way in all runs; their work is the same, and so they are "
                       "judged.") != 0)
            return -1;
    }
    if (half.count > 0)
        return warn(
            result, "work", &half, "not known on both sides", "not known on both sides",
            "cannot be shown to be the same work: flop, asked bytes or dims are known on one side only, or none "
            "of them on both.");
    return 0;
}
