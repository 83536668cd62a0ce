# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
