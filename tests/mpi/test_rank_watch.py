"""A rank that dies ends the job in seconds, with a status that is not 0 and one message that names the rank."""
import os
import re
import signal
import subprocess
import sys
import time

MPIEXEC, PROGRAM = sys.argv[1:3]
RANKS = 3
SECONDS = 15


class Job:
    """mpiexec of the program; knows the process of every rank."""

    def __init__(self, way, options=()):
        command = [MPIEXEC, *options, '-n', str(RANKS), PROGRAM, way]
        self.begin = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = [self.process.stdout.readline().split() for _ in range(RANKS)]
        self.pids = {int(line[1]): int(line[3]) for line in lines}

    def end(self):
        _, self.errors = self.process.communicate(timeout=SECONDS)
        self.seconds = time.monotonic() - self.begin
        self.died = re.findall(r'rank (\d+) \(pid (\d+) on host \S+\) (died|was killed|ended with)', self.errors)
        return self.process.returncode


def check(condition, job, what):
    if not condition:
        sys.exit(f'{what}\nstderr of the job:\n{job.errors}')


def watchers():
    """Watching processes that are alive."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/stat') as stat:
                text = stat.read()
            with open(f'/proc/{pid}/cmdline') as line:
                ours = PROGRAM in line.read()
        except OSError:
            continue
        if ours and '(halo-rank-watch)' in text and ') Z ' not in text:
            found.append(int(pid))
    return found


def killed(victim, options, number=signal.SIGKILL):
    """Others may be named too: the launcher ends them, and it may have taken the status of the first by then, so that the
    watching process waits for what else dies. But the order is that of the deaths, those that aborted last."""
    job = Job('wait', options)
    time.sleep(0.3)
    os.kill(job.pids[victim], number)
    status = job.end()
    check(status != 0, job, f'rank {victim} was killed, but mpiexec returned 0')
    named = [(int(rank), int(pid)) for rank, pid, _ in job.died]
    check((victim, job.pids[victim]) in (named if number == signal.SIGABRT else named[:1]), job,
          f'the message does not name rank {victim}, or another before it')
    check(set(named) <= set(job.pids.items()) and len(set(named)) == len(named), job, 'the message names no rank twice')
    check(job.errors.count('the other ranks are ended') == 1, job, 'one message was expected')


def killed_before_a_peer_aborts(victim, aborting):
    """The victim holds much memory and takes its time to go; a peer that misses it has aborted long before."""
    job = Job('heavy')
    time.sleep(0.3)
    os.kill(job.pids[victim], signal.SIGKILL)
    os.kill(job.pids[aborting], signal.SIGABRT)
    check(job.end() != 0, job, f'rank {victim} was killed, but mpiexec returned 0')
    check(str(victim) in [rank for rank, _, _ in job.died], job, f'rank {victim} should be named')


def main():
    job = Job('none')
    check(job.end() == 0, job, 'a sound job failed')
    check(job.errors == '', job, 'a sound job wrote to stderr')

    for victim in range(RANKS):
        killed(victim, [])
    killed(1, [], signal.SIGABRT)
    killed_before_a_peer_aborts(1, 2)
    killed(2, ['-disable-auto-cleanup'])  # the launcher leaves the others waiting

    job = Job('abort')
    check(job.end() == 2, job, f'abort_all(2) gave status {job.process.returncode}')
    check('rank 1 has its reasons' in job.errors and not job.died, job, 'the rank\'s own message should stand alone')

    job = Job('exit0')
    check(job.end() != 0, job, 'exit(0) of one rank passed for success')
    check('rank 1 on host' in job.errors and not job.died, job, 'the rank should say that it called exit()')

    for way in ('throw', 'agreed'):
        job = Job(way)
        check(job.end() == 2, job, f'{way}: bad input gave status {job.process.returncode}')
        check(job.errors.count('rank 1 dislikes its input') == 1, job, f'{way}: one message was expected')
        check('rank 1 on host' in job.errors and not job.died, job, f'{way}: the message should name rank 1 only')

    time.sleep(0.2)
    check(not watchers(), job, f'watching processes were left over: {watchers()}')


main()
