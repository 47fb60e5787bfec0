/* SPDX-FileCopyrightText: 2026 the fanin authors */
/* SPDX-License-Identifier: MIT */
/* Machines with several kinds of cores, as hwloc describes them in a file. */
#ifndef FANIN_TESTS_KINDS_H
#define FANIN_TESTS_KINDS_H

#include <hwloc.h>

#include "tree.h"

struct kind {
        const char *cpus;
        int efficiency; /* -1: hwloc can't rank them */
};

/* From here on hwloc sees a machine of cores with one thread each, of these kinds. */
static inline void kinds_make(unsigned cores, const struct kind *kinds, unsigned count)
{
        hwloc_topology_t topology;
        hwloc_bitmap_t set = hwloc_bitmap_alloc();
        char synthetic[64], path[PATH_BYTES];
        snprintf(synthetic, sizeof synthetic, "core:%u pu:1", cores);
        assert_int_equal(hwloc_topology_init(&topology), 0);
        assert_int_equal(hwloc_topology_set_synthetic(topology, synthetic), 0);
        assert_int_equal(hwloc_topology_load(topology), 0);
        for (unsigned i = 0; i < count; i++) {
                char name[] = "Colour", value[] = {(char)('a' + i), '\0'};
                struct hwloc_info_s info = {name, value};
                assert_int_equal(hwloc_bitmap_list_sscanf(set, kinds[i].cpus), 0);
                assert_int_equal(
                        hwloc_cpukinds_register(topology, set, kinds[i].efficiency, 1, &info, 0),
                        0);
        }
        tree_path(path, "machine.xml");
        assert_int_equal(hwloc_topology_export_xml(topology, path, 0), 0);
        hwloc_bitmap_free(set);
        hwloc_topology_destroy(topology);
        setenv("HWLOC_XMLFILE", path, 1);
}

#endif
