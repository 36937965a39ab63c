/* See tests/unit/db/faulty_vfs.h. Everything but writing is passed on. */
#include "tests/unit/db/faulty_vfs.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static sqlite3_vfs *real_vfs;
static sqlite3_vfs faulty;
static int countdown, fault_code;
static bool fault_lasting, fired;
static const char *kill_part;
static int kill_countdown;

struct file {
    sqlite3_file base;
    sqlite3_file *real; /* right behind this struct */
    bool kills;         /* its name has kill_part in it */
};

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct file *)file)->real;
}

static int fault(void)
{
    if (fired && fault_lasting)
        return fault_code;
    if (countdown > 0 && --countdown == 0) {
        fired = true;
        return fault_code;
    }
    return SQLITE_OK;
}

static int on_close(sqlite3_file *file)
{
    return real_of(file)->pMethods->xClose(real_of(file));
}
static int on_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at)
{
    return real_of(file)->pMethods->xRead(real_of(file), data, size, at);
}
static int on_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at)
{
    int rc = fault();

    if (((struct file *)file)->kills && --kill_countdown == 0)
        kill(getpid(), SIGKILL);
    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xWrite(real_of(file), data, size, at);
}
static int on_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int rc = fault();

    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xTruncate(real_of(file), size);
}
static int on_sync(sqlite3_file *file, int flags)
{
    int rc = fault();

    return rc != SQLITE_OK ? rc : real_of(file)->pMethods->xSync(real_of(file), flags);
}
static int on_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}
static int on_lock(sqlite3_file *file, int lock)
{
    return real_of(file)->pMethods->xLock(real_of(file), lock);
}
static int on_unlock(sqlite3_file *file, int lock)
{
    return real_of(file)->pMethods->xUnlock(real_of(file), lock);
}
static int on_reserved(sqlite3_file *file, int *ret)
{
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret);
}
static int on_control(sqlite3_file *file, int op, void *arg)
{
    return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}
static int on_sector(sqlite3_file *file)
{
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}
static int on_device(sqlite3_file *file)
{
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}
static int on_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
    return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, ret);
}
static int on_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, n, flags);
}
static void on_shm_barrier(sqlite3_file *file)
{
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}
static int on_shm_unmap(sqlite3_file *file, int remove)
{
    return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2, /* no mmap */
    .xClose = on_close,
    .xRead = on_read,
    .xWrite = on_write,
    .xTruncate = on_truncate,
    .xSync = on_sync,
    .xFileSize = on_size,
    .xLock = on_lock,
    .xUnlock = on_unlock,
    .xCheckReservedLock = on_reserved,
    .xFileControl = on_control,
    .xSectorSize = on_sector,
    .xDeviceCharacteristics = on_device,
    .xShmMap = on_shm_map,
    .xShmLock = on_shm_lock,
    .xShmBarrier = on_shm_barrier,
    .xShmUnmap = on_shm_unmap,
};

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
    struct file *ours = (struct file *)file;
    int rc;

    (void)vfs;
    memset(ours, 0, sizeof *ours);
    ours->real = (sqlite3_file *)(ours + 1);
    ours->kills = kill_part != NULL && name != NULL && strstr(name, kill_part) != NULL;
    rc = real_vfs->xOpen(real_vfs, name, ours->real, flags, ret_flags);
    ours->base.pMethods = ours->real->pMethods != NULL ? &methods : NULL;
    return rc;
}

int faulty_vfs_install(void)
{
    if (real_vfs != NULL)
        return 0;
    real_vfs = sqlite3_vfs_find(NULL);
    if (real_vfs == NULL)
        return -1;
    faulty = *real_vfs; /* its other methods take any vfs: they use no state of their own */
    faulty.pNext = NULL;
    faulty.zName = "faulty";
    faulty.szOsFile = (int)sizeof(struct file) + real_vfs->szOsFile;
    faulty.xOpen = on_open;
    return sqlite3_vfs_register(&faulty, 1) == SQLITE_OK ? 0 : -1;
}

void faulty_vfs_arm(int n, int code, bool lasting)
{
    countdown = n;
    fault_code = code;
    fault_lasting = lasting;
    fired = false;
}

bool faulty_vfs_fired(void)
{
    return fired;
}

void faulty_vfs_kill_at(const char *part, int n)
{
    kill_part = part;
    kill_countdown = n;
}
